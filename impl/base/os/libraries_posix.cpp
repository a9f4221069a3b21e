// Dynamic libraries and file descriptors by POSIX.
#include "base/os/libraries.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/os/loaded_libraries.h"

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

std::vector<std::string> librariesWith(const std::vector<const char*>& functions) {
    std::vector<std::string> paths = loadedLibraries();
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
