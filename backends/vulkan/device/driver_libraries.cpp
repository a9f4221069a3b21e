// Finds the drivers among the loaded libraries by the functions that the loader calls in them.
#include "backends/vulkan/device/driver_libraries.h"

#include <dlfcn.h>
#include <link.h>

#include <memory>

namespace mnnc::vulkan {

namespace {

struct Closer {
    void operator()(void* library) const noexcept { dlclose(library); }
};
using Library = std::unique_ptr<void, Closer>;

// Returns a library that is already loaded, or null.
Library loaded(const std::string& path, int mode = 0) {
    return Library(dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD | mode));
}

bool isDriver(void* library) {
    return dlsym(library, "vk_icdNegotiateLoaderICDInterfaceVersion") || dlsym(library, "vk_icdGetInstanceProcAddr");
}

}  // namespace

std::vector<std::string> loadedDrivers() {
    std::vector<std::string> paths;
    const auto note = [](dl_phdr_info* info, size_t, void* list) {
        if (info->dlpi_name && info->dlpi_name[0] == '/')
            static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
        return 0;
    };
    dl_iterate_phdr(note, &paths);
    std::erase_if(paths, [](const std::string& path) {
        const Library library = loaded(path);
        return !library || !isDriver(library.get());
    });
    return paths;
}

void keepDriversLoaded() {
    for (const std::string& path : loadedDrivers()) loaded(path, RTLD_NODELETE);
}

}  // namespace mnnc::vulkan
