// Files that commands read whole.
#pragma once
#include <cstdint>
#include <string>

namespace tool {

// All bytes of a file, or of standard input where the path is "-", which can be read once. Throws ToolError, for more
// than `most` bytes, too, and UsageError when standard input is read again.
std::string readInput(const std::string& path, size_t most = SIZE_MAX);

}  // namespace tool
