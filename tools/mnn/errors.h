// The exceptions of the tool. main() turns them into exit codes.
#pragma once
#include <stdexcept>

namespace tool {

// A command failed: exit code 1.
class ToolError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The wanted backend is missing, and no other backend replaces it.
class MissingBackend : public ToolError {
    using ToolError::ToolError;
};

// The command line is wrong: exit code 2.
class UsageError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace tool
