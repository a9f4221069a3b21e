// The limit on the memory of a session whose configuration sets none.
#pragma once
#include <cstdint>
#include <string>

namespace mnnc {

// Returns 4 GiB, or half of the machine's memory if that is more; but not more than the limit of the container (Linux
// control groups, both versions) that the process runs in. A change of that limit counts after a second at the latest.
int64_t defaultMemoryLimit();

// Returns the smallest limit that control groups set, INT64_MAX when none does. root: "" or a folder that holds copies
// of /proc/self/cgroup and /sys/fs/cgroup, for tests.
int64_t containerMemoryLimit(const std::string& root);

}  // namespace mnnc
