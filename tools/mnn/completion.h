// Completion of the command line in a shell: scripts that are generated from the commands and their options.
#pragma once
#include <string>
#include <vector>

namespace tool {

struct OptionWords {
    std::string name;  // "--threads", "-h"
    std::string description;
    bool takesValue = false;
    bool takesFile = false;           // its value is a file
    std::vector<std::string> values;  // its possible values; empty: any
};

struct CommandWords {
    std::string name;
    std::string description;
    std::vector<OptionWords> options;
    bool takesFile = false;           // a file follows its options
    std::vector<std::string> values;  // the possible words instead of a file
};

inline const std::vector<std::string> kShells = {"bash", "fish", "zsh"};

// Returns the script for one of kShells. `global` has the options that precede a command.
std::string completionScript(const std::string& shell, const std::vector<CommandWords>& commands,
                             const std::vector<OptionWords>& global);

}  // namespace tool
