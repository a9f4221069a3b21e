// Hashes the environment, the manifests of Vulkan drivers and layers, and the device files of the system.
#include "backends/vulkan/device/driver_surroundings.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/fnv_hash.h"
#include "base/os/files.h"
#include "base/os/threads.h"

namespace mnnc::vulkan {

namespace {

void addPermissions(FnvHash& hash, const os::FoundFile& file) {
    for (const uint64_t number : file.permissions) hash.add(number);
}

void addContents(FnvHash& hash, const os::FoundFile& file) {
    for (const uint64_t number : file.contents) hash.add(number);
}

using AddFile = void (*)(FnvHash&, const os::FoundFile&);

// Adds a path and returns whether it is a folder. A missing path changes the hash, too.
bool addFile(FnvHash& hash, const std::string& path, AddFile add) {
    os::FoundFile file;
    const bool there = os::findFile(path.c_str(), file);
    hash.add(there ? 1 : 0);
    if (there) add(hash, file);
    return file.isFolder;
}

// Adds the files of a folder; the order in which the system lists them makes no difference.
void addFolder(FnvHash& hash, const std::string& path, AddFile add) {
    uint64_t sum = 0, count = 1;
    const bool there = os::listFolder(path.c_str(), [&](const char* name, const os::FoundFile* file) {
        FnvHash own;
        own.add(name);
        if (file) add(own, *file);
        sum += own.value();
        ++count;
    });
    if (!there) return hash.add(uint64_t{0});
    hash.add(count);
    hash.add(sum);
}

std::string_view variable(const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value && *value ? value : otherwise;
}

// Calls the action for each path of a list with colons between them.
template <typename Action>
void forEach(std::string_view list, Action action) {
    while (!list.empty()) {
        const size_t end = std::min(list.find(':'), list.size());
        if (end > 0) action(std::string(list.substr(0, end)));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
}

// Adds the folders that the loader searches unless a variable names others.
void addManifests(FnvHash& hash) {
    const auto addBase = [&](const std::string& base) {
        for (const char* folder : {"icd.d", "implicit_layer.d", "explicit_layer.d", "loader_settings.d"})
            addFolder(hash, base + "/vulkan/" + folder, addContents);
    };
    const std::string home(variable("HOME", ""));
    addBase(std::string(variable("XDG_CONFIG_HOME", (home + "/.config").c_str())));
    addBase(std::string(variable("XDG_DATA_HOME", (home + "/.local/share").c_str())));
    forEach(variable("XDG_CONFIG_DIRS", "/etc/xdg"), addBase);
    forEach(variable("XDG_DATA_DIRS", "/usr/local/share:/usr/share"), addBase);
    forEach("/etc:/usr/local/etc", addBase);
}

void addNamedFiles(FnvHash& hash) {
    for (const char* name : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES", "VK_LAYER_PATH",
                             "VK_ADD_LAYER_PATH", "VK_IMPLICIT_LAYER_PATH", "VK_ADD_IMPLICIT_LAYER_PATH"})
        forEach(variable(name, ""), [&](const std::string& path) {
            if (addFile(hash, path, addContents)) addFolder(hash, path, addContents);
        });
}

}  // namespace

uint64_t driverSurroundings() {
    FnvHash hash;
    for (const std::string& variable : os::environmentVariables()) hash.add(variable);
    for (const uint64_t number : os::userNumbers()) hash.add(number);
    addManifests(hash);
    addNamedFiles(hash);
    // Devices appear and disappear as files.
    addFile(hash, "/dev", addContents);
    addFolder(hash, "/dev/dri", addPermissions);
    return hash.value();
}

}  // namespace mnnc::vulkan
