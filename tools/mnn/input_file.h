// Reads complete files for commands.
#pragma once
#include <cstdint>
#include <string>

namespace tool {

// Returns all bytes of a file, or of standard input where the path is "-", which can be read once. Throws ToolError,
// also for more than `maxBytes` bytes, and UsageError when standard input is read again.
std::string readInput(const std::string& path, size_t maxBytes = SIZE_MAX);

}  // namespace tool
