// Dynamic libraries of ELF.
#include <link.h>

#include "base/os/libraries.h"
#include "base/os/loaded_libraries.h"

namespace mnnc::os {

const char* const kVulkanLoader = "libvulkan.so.1";

std::vector<std::string> loadedLibraries() {
    std::vector<std::string> paths;
    const auto note = [](dl_phdr_info* info, size_t, void* list) {
        if (info->dlpi_name && info->dlpi_name[0] == '/')
            static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
        return 0;
    };
    ::dl_iterate_phdr(note, &paths);
    return paths;
}

}  // namespace mnnc::os
