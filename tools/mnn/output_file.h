// Writes files for commands.
#pragma once
#include <string>
#include <string_view>

namespace tool {

inline constexpr std::string_view kStandardStream = "-";  // as a file name: standard input or output

// Writes a text to a file, or to standard output where the path is "-". Throws ToolError.
void writeOutput(const std::string& path, std::string_view text);

}  // namespace tool
