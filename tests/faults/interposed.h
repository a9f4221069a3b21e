// Macros and functions for the definitions that replace those of the system.
#pragma once
#include <dlfcn.h>

// Exported, so that the dynamic linker resolves the library's calls to them.
#define EXPORTED __attribute__((visibility("default"), noinline))
#define CALLER __builtin_return_address(0)

namespace faults {

// Returns the function of that name that would be called without this program's.
template <typename Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace faults
