// Dynamic libraries of macOS. This file is compiled as a check and has never run.
#include <mach-o/dyld.h>

#include <cstdint>

#include "base/os/libraries.h"
#include "base/os/loaded_libraries.h"

namespace mnnc::os {

const char* const kVulkanLoader = "libvulkan.1.dylib";

std::vector<std::string> loadedLibraries() {
    std::vector<std::string> paths;
    const uint32_t count = ::_dyld_image_count();
    for (uint32_t i = 0; i < count; ++i)
        if (const char* const path = ::_dyld_get_image_name(i)) paths.emplace_back(path);
    return paths;
}

}  // namespace mnnc::os
