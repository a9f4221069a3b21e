// The cores of the machine and their speeds.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mnnc {

enum class Power : int32_t;  // backend.h

struct CoreSpeed {
    int core = 0;
    int64_t speed = 0;  // to compare cores of one machine; 0: unknown
};

// Returns the cores that the process may use, with the kernel's measure of their speeds: relative capacities, else the
// maximum frequencies. `folder` contains the kernel's description of the cores.
std::vector<CoreSpeed> machineCores(const std::string& folder = "/sys/devices/system/cpu");

// Selects, among the cores `wanted` (empty: all), those for threads of this power: whole groups of equally fast cores,
// beginning with the fastest or the slowest, until they are at least `threads` cores. Returns `wanted` itself where the
// power is Normal or no core would be left out. Empty: threads need not be bound.
std::vector<int> coresOf(const std::vector<CoreSpeed>& machine, const std::vector<int>& wanted, Power power,
                         int threads);

}  // namespace mnnc
