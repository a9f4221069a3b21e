// The command that prints completion scripts, derived from the options of all others.
#include "options.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "completion.h"
#include "output_file.h"

namespace tool {
namespace {

std::vector<OptionWords> optionsOf(const CLI::App& command) {
    std::vector<OptionWords> options;
    for (const CLI::Option* option : command.get_options()) {
        const std::string type = option->get_type_name();
        OptionWords words;
        words.description = option->get_description();
        words.takesValue = option->get_items_expected_max() > 0;
        words.takesFile = type.find("FILE") != std::string::npos || type.find("DIR") != std::string::npos;
        words.values = valuesOf(*option);
        for (const std::string& name : option->get_snames()) {
            words.name = '-' + name;
            options.push_back(words);
        }
        for (const std::string& name : option->get_lnames()) {
            words.name = "--" + name;
            options.push_back(words);
        }
    }
    return options;
}

}  // namespace

void addCompletion(CLI::App& app) {
    CLI::App* command = app.add_subcommand("completion", "Print a script that completes command lines in a shell");
    auto shell = std::make_shared<std::string>();
    auto output = std::make_shared<std::string>(kStandardStream);
    command->add_option("SHELL", *shell, "The shell")->required()->check(CLI::IsMember(kShells));
    addTextOutputTo(*command, *output);
    command->footer(
        "The packages install the scripts. Otherwise these have them for one shell:\n"
        "  bash: source <(mnn completion bash)\n"
        "  zsh:  source <(mnn completion zsh)\n"
        "  fish: mnn completion fish | source");
    command->callback([&app, shell, output] {
        std::vector<CommandWords> commands;
        for (const CLI::App* each : app.get_subcommands({})) {
            CommandWords words{each->get_name(), each->get_description(), optionsOf(*each), false, {}};
            for (const CLI::Option* option : each->get_options()) {
                if (!option->get_positional()) continue;
                words.values = valuesOf(*option);
                words.takesFile = words.values.empty();
            }
            commands.push_back(std::move(words));
        }
        writeOutput(*output, completionScript(*shell, commands, optionsOf(app)));
    });
}

}  // namespace tool
