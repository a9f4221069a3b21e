// Names of files and folders of Windows.
#include <algorithm>
#include <cctype>

#include "base/os/paths.h"

namespace mnnc::os {

namespace {

// Returns whether a name means a device. What follows its first dot makes no difference.
bool namesDevice(const std::string& name) {
    std::string first = name.substr(0, name.find('.'));
    while (!first.empty() && first.back() == ' ') first.pop_back();
    for (char& c : first) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    for (const char* device : {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"})
        if (first == device) return true;
    return first.size() == 4 && (first.starts_with("COM") || first.starts_with("LPT")) && first[3] >= '0' &&
           first[3] <= '9';
}

}  // namespace

std::string fileNameOf(std::string_view text) {
    constexpr std::string_view kReserved = "<>:\"/\\|?*";
    std::string name(text);
    std::replace_if(
        name.begin(), name.end(),
        [&](char c) { return static_cast<unsigned char>(c) < 32 || kReserved.find(c) != std::string_view::npos; }, '_');
    // Windows takes dots and spaces off the end of a name.
    for (size_t i = name.size(); i > 0 && (name[i - 1] == '.' || name[i - 1] == ' '); --i) name[i - 1] = '_';
    return name.empty() || namesDevice(name) ? '_' + name : name;
}

}  // namespace mnnc::os
