// Converts paths of std::filesystem from and to UTF-8 (its own narrow strings have another encoding on some systems),
// and makes names that the system accepts.
#pragma once
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

namespace mnnc::os {

// Converts UTF-8 to a path. Where the system's paths are UTF-16, text that is not UTF-8 becomes a path that no file
// has.
inline std::filesystem::path pathOf(std::string_view text) {
    try {
        return std::filesystem::path(std::u8string(text.begin(), text.end()));
    } catch (const std::filesystem::filesystem_error&) {
        return std::filesystem::path(u8"?");
    }
}

inline std::string textOf(const std::filesystem::path& path) {
    const std::u8string text = path.u8string();
    return std::string(text.begin(), text.end());
}

// Makes a name of a file or folder from a text: '_' replaces characters that names cannot have on this system, and is
// put before a text that would be no plain name, such as "..".
std::string fileNameOf(std::string_view text);

}  // namespace mnnc::os
