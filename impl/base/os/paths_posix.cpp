// Names of files and folders of POSIX.
#include <algorithm>

#include "base/os/paths.h"

namespace mnnc::os {

std::string fileNameOf(std::string_view text) {
    std::string name(text);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '/' || c == '\0'; }, '_');
    return name.find_first_not_of('.') == std::string::npos ? '_' + name : name;
}

}  // namespace mnnc::os
