// Writes completion scripts for bash, fish and zsh.
#include "completion.h"

#include <algorithm>

#include "text.h"

namespace tool {
namespace {

constexpr size_t kLongestDescription = 80;

std::string joined(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
    return line;
}

std::string namesOf(const std::vector<OptionWords>& options) {
    std::vector<std::string> names;
    names.reserve(options.size());
    for (const OptionWords& option : options) names.push_back(option.name);
    return joined(names);
}

// Returns the first part of a help text, short enough for a list.
std::string brief(const std::string& description) {
    size_t end = description.size();
    for (const char* mark : {"; ", "\n", " (", ". "}) end = std::min(end, description.find(mark));
    if (end > kLongestDescription) end = description.rfind(' ', kLongestDescription);
    return description.substr(0, end);
}

// Writes the text `before` in front of each `special` character.
std::string escaped(const std::string& words, std::string_view special, std::string_view before) {
    std::string result;
    for (const char character : words) {
        if (special.find(character) != std::string_view::npos) result += before;
        result += character;
    }
    return result;
}

std::string bashScript(const std::vector<CommandWords>& commands, const std::vector<OptionWords>& global) {
    std::string names, values, options;
    for (const CommandWords& command : commands) {
        names += command.name + ' ';
        for (const OptionWords& option : command.options) {
            if (!option.takesValue) continue;
            values += fmt::format("    '{} {}') {} ;;\n", command.name, option.name,
                                  option.values.empty() ? "return" : "words='" + joined(option.values) + "'");
        }
        options += fmt::format("    {}) words='{}' ;;\n", command.name, namesOf(command.options));
        if (!command.values.empty())
            values += fmt::format("    '{} '[!-]*) [[ $word == -* ]] || words='{}' ;;\n", command.name,
                                  joined(command.values));
    }
    return fmt::format(
        R"(# Completion of mnn in bash, printed by 'mnn completion bash'. File names are bash's own.
_mnn() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command=${{COMP_WORDS[1]}} words=
    # --option=value is three words.
    if [[ $word == = ]]; then word=; fi
    if [[ $before == = ]]; then before=${{COMP_WORDS[COMP_CWORD - 2]}}; fi
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W '{}{}' -- "$word"))
        return
    fi
    case "$command $before" in
{}    esac
    if [[ -z $words && $word == -* ]]; then
        case $command in
{}        esac
    fi
    if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$word")); fi
}}
complete -o default -F _mnn mnn
)",
        names, namesOf(global), values, options);
}

std::string fishScript(const std::vector<CommandWords>& commands, const std::vector<OptionWords>& global) {
    const auto quoted = [](const std::string& words) { return '\'' + escaped(brief(words), "\\'", "\\") + '\''; };
    const auto line = [&](const char* condition, const OptionWords& option) {
        const bool isLong = option.name.starts_with("--");
        std::string value;
        if (option.takesFile)
            value = " -r -F";
        else if (option.takesValue)
            value = option.values.empty() ? " -x" : " -x -a '" + joined(option.values) + '\'';
        return fmt::format("complete -c mnn -n '{}' -{} {}{} -d {}\n", condition, isLong ? "l" : "s",
                           option.name.substr(isLong ? 2 : 1), value, quoted(option.description));
    };
    std::string script = "# Completion of mnn in fish, printed by 'mnn completion fish'.\n";
    for (const OptionWords& option : global) script += line("__fish_use_subcommand", option);
    for (const CommandWords& command : commands) {
        script += fmt::format("complete -c mnn -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                              quoted(command.description));
        const std::string condition = "__fish_seen_subcommand_from " + command.name;
        for (const OptionWords& option : command.options) script += line(condition.c_str(), option);
        if (!command.takesFile)
            script += fmt::format("complete -c mnn -n '{}' -f -a '{}'\n", condition, joined(command.values));
    }
    return script;
}

std::string zshScript(const std::vector<CommandWords>& commands, const std::vector<OptionWords>& global) {
    const auto quoted = [](const std::string& words) {
        std::string result;
        for (const char character : words) result += character == '\'' ? "'\\''" : std::string(1, character);
        return '\'' + result + '\'';
    };
    const auto argument = [&](const OptionWords& option) {
        std::string words = option.name + (option.takesValue && option.name.starts_with("--") ? "=" : "") + '[' +
                            escaped(brief(option.description), "[]:\\", "\\") + ']';
        if (option.takesFile)
            words += ":file:_files";
        else if (option.takesValue)
            words += ":value:" + (option.values.empty() ? " " : '(' + joined(option.values) + ')');
        return ' ' + quoted("*" + words);  // '*' permits any number of words
    };
    std::string names, arguments, before;
    for (const CommandWords& command : commands) {
        names += "        " + quoted(command.name + ':' + brief(command.description)) + '\n';
        arguments += "    " + command.name + ") _arguments";
        for (const OptionWords& option : command.options) arguments += argument(option);
        if (command.takesFile)
            arguments += " '*:file:_files'";
        else if (!command.values.empty())
            arguments += " '*:value:(" + joined(command.values) + ")'";
        arguments += " ;;\n";
    }
    for (const OptionWords& option : global) before += argument(option);
    return fmt::format(R"(#compdef mnn
# Completion of mnn in zsh, printed by 'mnn completion zsh'.
_mnn() {{
    local -a commands=(
{}    )
    if (( CURRENT == 2 )); then
        if [[ $words[2] == -* ]]; then _arguments{}; else _describe command commands; fi
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{}    esac
}}
if [ "$funcstack[1]" = _mnn ]; then _mnn "$@"; else compdef _mnn mnn; fi
)",
                       names, before, arguments);
}

}  // namespace

std::string completionScript(const std::string& shell, const std::vector<CommandWords>& commands,
                             const std::vector<OptionWords>& global) {
    if (shell == "bash") return bashScript(commands, global);
    if (shell == "fish") return fishScript(commands, global);
    return zshScript(commands, global);
}

}  // namespace tool
