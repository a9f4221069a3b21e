/* Loads the library and looks up the functions of its table. */
#include "plugin.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "library.h"

/* The version that this host was written for. */
enum { ABI_MAJOR = MNN_C_VERSION_MAJOR, ABI_MINOR = MNN_C_VERSION_MINOR };

/* A later minor version only adds functions; before 1.0 it may change anything. */
static bool compatible(uint32_t version) {
    const uint32_t major = version >> 16, minor = version & 0xffff;
    return major == ABI_MAJOR && (ABI_MAJOR == 0 ? minor == ABI_MINOR : minor >= ABI_MINOR);
}

/* Writes the address of a function to `pointer`. ISO C has no cast from void* to a function's type, so the bytes are
 * copied. */
static bool resolve(void* library, const char* name, void* pointer) {
    void* const address = library_symbol(library, name);
    if (address) memcpy(pointer, &address, sizeof address);
    return address != NULL;
}

static bool fill(plugin_t* plugin, const char* path, char* message, size_t size) {
    static const struct {
        const char* name;
        size_t offset;
    } functions[] = {
#define PLUGIN_ROW(name) {"mnn_" #name, offsetof(plugin_t, name)},
        MNN_FUNCTIONS(PLUGIN_ROW)
#undef PLUGIN_ROW
    };
    /* The version comes first: it explains why a function is missing. */
    if (!resolve(plugin->library, "mnn_abi_version", &plugin->abi_version)) {
        snprintf(message, size, "'%s' is not libmnn_c: it has no mnn_abi_version", path);
        return false;
    }
    const uint32_t version = plugin->abi_version();
    if (!compatible(version)) {
        snprintf(message, size, "'%s' has ABI %u.%u, this host was written for %d.%d", path, (unsigned)(version >> 16),
                 (unsigned)(version & 0xffff), ABI_MAJOR, ABI_MINOR);
        return false;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!resolve(plugin->library, functions[i].name, (char*)plugin + functions[i].offset)) {
            snprintf(message, size, "'%s' has no %s", path, functions[i].name);
            return false;
        }
    return true;
}

bool plugin_open(plugin_t* plugin, const char* path, char* message, size_t size) {
    memset(plugin, 0, sizeof *plugin);
    plugin->library = library_open(path, message, size);
    if (!plugin->library) return false;
    if (fill(plugin, path, message, size)) return true;
    char ignored[64];
    library_close(plugin->library, ignored, sizeof ignored);
    memset(plugin, 0, sizeof *plugin);
    return false;
}

bool plugin_close(plugin_t* plugin, char* message, size_t size) {
    const bool closed = library_close(plugin->library, message, size);
    memset(plugin, 0, sizeof *plugin); /* a call through a stale pointer could run any code */
    return closed;
}
