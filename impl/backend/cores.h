// The cores of the machine: how fast they are, and binding threads to them.
#pragma once
#include <pthread.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mnnc {

enum class Power : int32_t;  // backend.h

struct CoreSpeed {
    int core = 0;
    int64_t speed = 0;  // to compare cores of one machine; 0: not known
};

// The cores that the process may use, with their speeds as the kernel has them: relative capacities, else the highest
// frequencies. `folder`: of the kernel's description.
std::vector<CoreSpeed> machineCores(const std::string& folder = "/sys/devices/system/cpu");

// Of the cores `wanted` (empty: all) those for threads of this power: the fastest or slowest kinds of cores that are at
// least `threads` together. Empty: there is no reason to bind threads, because all cores are alike or none is wanted.
std::vector<int> coresOf(const std::vector<CoreSpeed>& machine, const std::vector<int>& wanted, Power power,
                         int threads);

// False: the system does not allow it, or cannot bind threads.
bool placeThread(pthread_t thread, const std::vector<int>& cores) noexcept;

}  // namespace mnnc
