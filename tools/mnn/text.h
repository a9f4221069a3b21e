// Prints formatted text, and writes shapes, counts and sizes as text.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace tool::text {

// fmt::print() throws when a write fails; here the file keeps the error, and main() asks for it at the end.
template <typename... Values>
void print(std::FILE* file, fmt::format_string<Values...> pattern, Values&&... values) {
    const std::string line = fmt::format(pattern, std::forward<Values>(values)...);
    std::fwrite(line.data(), 1, line.size(), file);
}
template <typename... Values>
void print(fmt::format_string<Values...> pattern, Values&&... values) {
    text::print(stdout, pattern, std::forward<Values>(values)...);
}

}  // namespace tool::text

namespace tool {

std::string shapeText(const std::vector<int64_t>& shape);  // "1x3x224x224", "scalar"
std::string countText(double number);                      // "1.24 M"
std::string bytesText(uint64_t bytes);                     // "4.7 MiB"

}  // namespace tool
