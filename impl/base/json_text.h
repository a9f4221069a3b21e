// Writes text as JSON.
#pragma once
#include <string>
#include <string_view>

namespace mnnc {

// Returns a JSON string, including quotes. Each byte that is not valid UTF-8 becomes U+FFFD.
std::string jsonString(std::string_view text);
// Returns the number with this many digits as printf's %g writes it, but with a point in every locale.
std::string numberText(double number, int digits = 6);
template <typename Numbers>
std::string jsonNumbers(const Numbers& numbers) {
    std::string result = "[";
    for (const auto number : numbers) result += (result.size() > 1 ? "," : "") + std::to_string(number);
    return result + ']';
}

}  // namespace mnnc
