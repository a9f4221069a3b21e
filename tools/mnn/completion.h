// Completion of the command line in a shell: scripts made of the commands and their options.
#pragma once
#include <string>
#include <vector>

namespace tool {

struct OptionWords {
    std::string name;  // "--threads", "-h"
    std::string description;
    bool takesValue = false;
    bool takesFile = false;           // as its value
    std::vector<std::string> values;  // those that it takes; empty: any
};

struct CommandWords {
    std::string name;
    std::string description;
    std::vector<OptionWords> options;
    bool takesFile = false;           // behind its options
    std::vector<std::string> values;  // what stands there in place of a file
};

inline const std::vector<std::string> kShells = {"bash", "fish", "zsh"};

// The script for one of kShells. `global` has the options that stand before a command.
std::string completionScript(const std::string& shell, const std::vector<CommandWords>& commands,
                             const std::vector<OptionWords>& global);

}  // namespace tool
