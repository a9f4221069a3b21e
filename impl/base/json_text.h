// Text as JSON has it.
#pragma once
#include <string>
#include <string_view>

namespace mnnc {

// A JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD, one for each.
std::string jsonString(std::string_view text);
template <typename Numbers>
std::string jsonNumbers(const Numbers& numbers) {
    std::string result = "[";
    for (const auto number : numbers) result += (result.size() > 1 ? "," : "") + std::to_string(number);
    return result + ']';
}

}  // namespace mnnc
