// Attributes requests to their callers.
#pragma once

namespace faults {

// Returns whether the caller lies in a library under test.
bool isLibrary(const void* caller);
// Returns whether it does, or lies in libstdc++ or libc that a library under test has called.
bool isOurs(const void* caller);
// Set while this thread creates the exception for a failed request of the library.
extern constinit thread_local bool throwing;

}  // namespace faults
