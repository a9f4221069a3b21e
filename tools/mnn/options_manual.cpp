// The command that prints the manual page: the help of all commands in the language of man.
#include "options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "output_file.h"
#include "text.h"

namespace tool {
namespace {

using CLI::detail::find_and_replace;
using CLI::detail::join;

// Returns a line in which the characters that man would interpret are escaped, with options in bold.
std::string roff(const std::string& line) {
    std::string result = line.starts_with('.') || line.starts_with('\'') ? "\\&" : "";
    bool bold = false;
    for (size_t i = 0; i < line.size(); ++i) {
        const bool isLetter = std::isalpha(static_cast<unsigned char>(line[i]));
        const bool begins = line[i] == '-' && line.find_first_of("abcdefghijklmnopqrstuvwxyz", i) == i + 2;
        if (!bold && begins && line[i + 1] == '-') {
            result += "\\fB";
            bold = true;
        } else if (bold && line[i] != '-' && !isLetter) {
            result += "\\fR";
            bold = false;
        }
        result += line[i] == '-' ? "\\-" : line[i] == '\\' ? "\\e" : std::string(1, line[i]);
    }
    return result + (bold ? "\\fR\n" : "\n");
}

// Returns the paragraphs of a help text. man fills their lines, except for examples and lines that begin with a space.
std::string paragraphs(const std::string& text) {
    std::string result;
    size_t margin = 0;  // of the lines that stay as they are; 0: none
    for (const std::string& line : CLI::detail::split(text, '\n')) {
        const size_t example = line.starts_with("Example") ? line.find(':') + 1 : 0,
                     start = line.find_first_not_of(' ');
        if (margin > 0 && (line.empty() || start == 0)) {
            result += ".EE\n";
            margin = 0;
        }
        if (example > 0) result += line.substr(0, example) + '\n';
        if (margin == 0 && !line.empty() && (example > 0 || start > 0)) {
            result += ".EX\n";
            margin = example > 0 ? example + 1 : start;
        }
        if (line.empty())
            result += ".PP\n";
        else if (margin < line.size())
            result += roff(line.substr(std::min(margin, example > 0 ? margin : start)));
    }
    return result + (margin > 0 ? ".EE\n" : "");
}

// Returns the word for the value of an option: its possible values, or a word for its type.
std::string valueWord(const CLI::Option& option) {
    const std::string type = option.get_type_name(), word = type.substr(0, type.find(':'));
    if (const std::vector<std::string> values = valuesOf(option); word == "TEXT" && !values.empty())
        return join(values, "|");
    return word == "INT" || word == "UINT" ? "N" : word == "FLOAT" ? "X" : word;
}

std::string entry(const CLI::Option& option) {
    const bool isFlag = option.get_items_expected_max() == 0;
    std::string title = find_and_replace(option.get_name(false, true), ",", ", ");
    if (!option.get_positional() && !isFlag) title += ' ' + valueWord(option);
    std::string text = option.get_description();
    const auto add = [&](const std::string& sentence) { text += (text.ends_with('.') ? " " : ". ") + sentence; };
    const std::string type = option.get_type_name(), standard = option.get_default_str();
    const size_t range = type.find('[');
    if (range != std::string::npos && type.size() < range + 12)
        add("From " + find_and_replace(type.substr(range + 1, type.find(']') - range - 1), "-", "to"));
    if (!standard.empty() && text.find("default") == std::string::npos) add("The default is " + standard);
    if (option.get_items_expected_max() > 1 && option.get_delimiter() == '\0' && !option.get_positional())
        add("May be given several times");
    std::vector<std::string> others;
    for (const CLI::Option* other : option.get_excludes()) others.push_back(other->get_name());
    std::sort(others.begin(), others.end());
    if (!others.empty()) add("Not together with " + join(others, " or "));
    return ".TP\n" + roff(title) + roff(text + (text.ends_with('.') ? "" : "."));
}

std::string manualPage(const CLI::App& app) {
    const auto key = [](const CLI::Option* option) { return option->get_name() + ' ' + option->get_description(); };
    std::map<std::string, int> uses;  // how many commands have an option with this name and help
    for (const CLI::App* command : app.get_subcommands({}))
        for (const CLI::Option* option : command->get_options()) ++uses[key(option)];
    std::string synopsis, chapters, shared;
    for (const CLI::Option* option : app.get_options()) {
        shared += entry(*option);
        uses.erase(key(option));
    }
    for (const CLI::App* command : app.get_subcommands({})) {
        std::string words, own;
        std::vector<std::string> others;
        for (const CLI::Option* option : command->get_options()) {
            const auto found = uses.find(key(option));
            if (option->get_positional())
                words += option->get_name() + (option->get_items_expected_max() > 1 ? "... " : " ");
            if (found != uses.end() && found->second == 1) own += entry(*option);
            if (found == uses.end() || found->second == 1) continue;
            if (found->second > 1) shared += entry(*option);
            found->second = 0;  // its entry is written
            others.push_back(option->get_name());
        }
        const std::string head = "mnn " + command->get_name();
        synopsis += fmt::format(".SY \"{}\"\n{}", head, roff(words + "[options]"));
        chapters += fmt::format(".SS {}\n{}.PP\n{}{}", head, roff(command->get_description() + '.'),
                                paragraphs(command->get_footer()), own);
        if (!others.empty())
            chapters +=
                ".PP\nOptions of several commands, which are described below:\n" + roff(join(others, ", ") + '.');
    }
    const std::string& footer = app.get_footer();  // description, examples, the rest
    const size_t examples = footer.find("Examples:"), rest = footer.find("\n\n", examples);
    return fmt::format(
        ".\\\" Generated by 'mnn manual': do not edit.\n.TH MNN 1 \"\" \"libmnn_c\" \"User Commands\"\n.SH NAME\n{}"
        ".SH SYNOPSIS\n{}.YS\n.SH DESCRIPTION\n{}.SH COMMANDS\n{}.SH OPTIONS\n{}.SH \"EXIT STATUS\"\n{}.SH "
        "EXAMPLES\n{}",
        roff(app.get_description()), synopsis, paragraphs(footer.substr(0, examples)), chapters, shared,
        paragraphs(footer.substr(rest + 2)), paragraphs(footer.substr(examples, rest - examples)));
}

}  // namespace

void addManual(CLI::App& app) {
    CLI::App* command = app.add_subcommand("manual", "Print the manual page");
    auto output = std::make_shared<std::string>(kStandardStream);
    addTextOutputTo(*command, *output);
    command->footer("It is the help of all commands, in the language of man: mnn manual | man -l -");
    command->callback([&app, output] { writeOutput(*output, manualPage(app)); });
}

}  // namespace tool
