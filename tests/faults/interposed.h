// What the functions share that stand in the place of the system's.
#pragma once
#include <dlfcn.h>

// The dynamic linker resolves the library's calls to them.
#define EXPORTED __attribute__((visibility("default"), noinline))
#define CALLER __builtin_return_address(0)

namespace faults {

// The function of that name that would be called without this program's.
template <typename Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace faults
