// Counts requests, and decides which of them fail.
#include "failures.h"

#include <cerrno>
#include <cstdint>

#include "callers.h"

namespace faults {

constinit Plan plan;

bool fails(Call call) {
    if (!plan.active.load(std::memory_order_acquire) || plan.call != call) return false;
    const long number = plan.seen.fetch_add(1) + 1;
    const long last = plan.extent == Extent::Once ? plan.n : plan.extent == Extent::Few ? plan.n + 4 : INT64_MAX;
    if (number < plan.n || number > last) return false;
    plan.failed.fetch_add(1);
    return true;
}

bool refused(Call call, const void* caller) {
    if (!plan.active.load(std::memory_order_acquire) || plan.call != call || !isOurs(caller) || !fails(call))
        return false;
    errno = plan.error;
    return true;
}

const char* callName(Call call) {
    static const char* const names[] = {"memory", "open",   "stat",  "read",  "mmap",           "write",
                                        "fchmod", "rename", "fsync", "close", "pthread_create", "sysconf"};
    return names[static_cast<int>(call)];
}

void arm(Call call, long n, Extent extent, int error) {
    plan.call = call;
    plan.n = n;
    plan.extent = extent;
    plan.error = error;
    plan.seen = 0;
    plan.failed = 0;
    plan.room = -1;
    plan.active.store(true, std::memory_order_release);
}

void armFullDisk(long bytes) {
    arm(Call::Write, INT64_MAX, Extent::Once, ENOSPC);
    plan.room = bytes;
}

void watch(Call call) {
    arm(call, INT64_MAX, Extent::Once, 0);
}

long disarm() {
    plan.active.store(false, std::memory_order_release);
    plan.room = -1;
    return plan.seen.load();
}

long failed() {
    return plan.failed.load();
}

}  // namespace faults
