// Dynamic libraries of macOS, and file descriptors. It is compiled as a check and has never run.
#include "base/os/libraries.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <mach-o/dyld.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace mnnc::os {

namespace {

struct LibraryCloser {
    void operator()(void* library) const noexcept { ::dlclose(library); }
};
using Library = std::unique_ptr<void, LibraryCloser>;

// Returns a library that is already loaded, or null.
Library loadedLibrary(const std::string& path, int mode = 0) {
    return Library(::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD | mode));
}

}  // namespace

const char* const kVulkanLoader = "libvulkan.1.dylib";

std::vector<std::string> librariesWith(const std::vector<const char*>& functions) {
    std::vector<std::string> paths;
    const uint32_t count = ::_dyld_image_count();
    for (uint32_t i = 0; i < count; ++i)
        if (const char* const path = ::_dyld_get_image_name(i)) paths.emplace_back(path);
    std::erase_if(paths, [&](const std::string& path) {
        const Library library = loadedLibrary(path);
        return !library || std::none_of(functions.begin(), functions.end(),
                                        [&](const char* name) { return ::dlsym(library.get(), name); });
    });
    return paths;
}

void keepLoaded(const std::string& path) noexcept {
    loadedLibrary(path, RTLD_NODELETE);
}

int duplicateDescriptor(int descriptor) noexcept {
    return ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

void closeDescriptor(int descriptor) noexcept {
    ::close(descriptor);
}

}  // namespace mnnc::os
