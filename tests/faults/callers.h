// Whose request it is.
#pragma once

namespace faults {

// The caller lies in a library under test.
bool isLibrary(const void* caller);
// It does, or in libstdc++ or libc, which a library under test has called.
bool isOurs(const void* caller);
// This thread makes the exception that stands for a failed request of the library.
extern constinit thread_local bool throwing;

}  // namespace faults
