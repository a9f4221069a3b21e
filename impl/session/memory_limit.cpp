// Reads the memory of the machine and of the container around the process.
#include "session/memory_limit.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "base/os/memory.h"

namespace mnnc {

namespace {

// Returns the number in a file; INT64_MAX when the file is absent, or has "max" or no valid number.
int64_t limitIn(const std::string& path) {
    std::ifstream file(path);
    unsigned long long value = 0;
    if (!(file >> value) || value > static_cast<unsigned long long>(std::numeric_limits<int64_t>::max()))
        return std::numeric_limits<int64_t>::max();
    return static_cast<int64_t>(value);
}

// Returns the smallest limit of a control group and of its parents, whose limits also bind it.
int64_t smallestUpwards(const std::string& mount, std::string group, const char* file) {
    int64_t limit = std::numeric_limits<int64_t>::max();
    for (;;) {
        while (!group.empty() && group.back() == '/') group.pop_back();
        limit = std::min(limit, limitIn(mount + group + "/" + file));
        if (group.empty()) return limit;
        group.resize(group.find_last_of('/') == std::string::npos ? 0 : group.find_last_of('/'));
    }
}

}  // namespace

int64_t containerMemoryLimit(const std::string& root) {
    int64_t limit = std::numeric_limits<int64_t>::max();
    std::ifstream groups(root + "/proc/self/cgroup");
    // Lines have the form "number:controllers:path"; version 2 has one with number 0 and no controllers.
    for (std::string line; std::getline(groups, line);) {
        const size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
        if (path.find("..") != std::string::npos) continue;
        if (controllers.empty())
            limit = std::min(limit, smallestUpwards(root + "/sys/fs/cgroup", path, "memory.max"));
        else if (("," + controllers + ",").find(",memory,") != std::string::npos)
            limit = std::min(limit, smallestUpwards(root + "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"));
    }
    return limit;
}

// Reading the files takes longer than making a small session, so an answer holds for a second. Two threads may both
// read them; each stores an answer that is new.
int64_t defaultMemoryLimit() {
    static std::atomic<int64_t> answer{0}, until{0};
    const int64_t now = std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
    if (now < until.load(std::memory_order_acquire)) return answer.load(std::memory_order_relaxed);
    const int64_t limit =
        std::min(std::max<int64_t>(os::machineMemory() / 2, int64_t{4} << 30), containerMemoryLimit(""));
    answer.store(limit, std::memory_order_relaxed);
    until.store(now + std::chrono::nanoseconds(std::chrono::seconds(1)).count(), std::memory_order_release);
    return limit;
}

}  // namespace mnnc
