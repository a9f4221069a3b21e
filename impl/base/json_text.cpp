// Escapes text for JSON.
#include "base/json_text.h"

#include <charconv>

#include "base/error.h"

namespace mnnc {

namespace {

// Returns the number of bytes of the character at the beginning of `text`, or 0 where they are not valid UTF-8 (RFC
// 3629): continuation bytes are missing, a shorter form exists, or the number is a surrogate or above U+10FFFF.
size_t characterLength(std::string_view text) {
    const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4) return 0;
    for (size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0u) != 0x80) return 0;
    const unsigned second = byte(1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
        (first == 0xf4 && second > 0x8f))
        return 0;
    return length;
}

}  // namespace

std::string jsonString(std::string_view text) {
    std::string result = "\"";
    while (!text.empty()) {
        const size_t length = characterLength(text);
        const char first = text[0];
        if (length == 0)
            result += "\xef\xbf\xbd";
        else if (first == '"' || first == '\\')
            (result += '\\') += first;
        else if (static_cast<unsigned char>(first) < 0x20)
            result += format("\\u%04x", static_cast<unsigned>(first));
        else
            result += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return result + '"';
}

std::string numberText(double number, int digits) {
    char text[64];
    const auto [end, error] = std::to_chars(text, text + sizeof text, number, std::chars_format::general, digits);
    return std::string(text, end);
}

}  // namespace mnnc
