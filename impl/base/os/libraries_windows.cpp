// Dynamic libraries of Windows, which has no file descriptors for memory.
#include "base/os/libraries.h"

#include <algorithm>

#include "base/os/api_windows.h"
// psapi.h needs the names of windows.h.
#include <psapi.h>

namespace mnnc::os {

const char* const kVulkanLoader = "vulkan-1.dll";

std::vector<std::string> librariesWith(const std::vector<const char*>& functions) {
    std::vector<std::string> paths;
    std::vector<HMODULE> modules(1024);
    const auto capacity = static_cast<DWORD>(modules.size() * sizeof(HMODULE));
    DWORD bytes = 0;
    if (!K32EnumProcessModules(GetCurrentProcess(), modules.data(), capacity, &bytes)) return paths;
    modules.resize(std::min(bytes, capacity) / sizeof(HMODULE));
    for (const HMODULE module : modules) {
        const bool found = std::any_of(functions.begin(), functions.end(),
                                       [&](const char* name) { return GetProcAddress(module, name) != nullptr; });
        wchar_t path[4096];
        if (found && GetModuleFileNameW(module, path, static_cast<DWORD>(std::size(path))))
            paths.push_back(utf8Of(path));
    }
    return paths;
}

void keepLoaded(const std::string& path) noexcept {
    HMODULE module = nullptr;
    GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN, WidePath(path.c_str()).get(), &module);
}

int duplicateDescriptor(int) noexcept {
    return -1;
}

void closeDescriptor(int) noexcept {}

}  // namespace mnnc::os
