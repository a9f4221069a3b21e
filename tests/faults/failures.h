// Chooses the requests that fail: see arm() in interpose.h.
#pragma once
#include <atomic>

#include "interpose.h"

namespace faults {

struct Plan {
    std::atomic<bool> active{false};
    Call call = Call::Last;
    long n = 0;
    Extent extent = Extent::Once;
    int error = 0;
    std::atomic<long> seen{0}, failed{0};
    std::atomic<long> room{-1};  // bytes of a disk; -1: no such limit
};
extern Plan plan;

// Returns whether this request of the library fails.
bool fails(Call call);
// The same for calls of the system, which count only where the library makes them; sets errno.
bool refused(Call call, const void* caller);

}  // namespace faults
