// Reads the process's own memory from the kernel's counters.
#pragma once
#include <cstdint>
#include <fstream>
#include <string>

namespace tool {

// Returns a field of /proc/self/status in bytes ("VmRSS" is the present size, "VmHWM" the peak); 0 where there is no
// such file.
inline uint64_t statusBytes(const std::string& field) {
    std::ifstream in("/proc/self/status");
    for (std::string line; std::getline(in, line);)
        if (line.rfind(field + ":", 0) == 0) return std::stoull(line.substr(field.size() + 1)) * 1024;
    return 0;
}

}  // namespace tool
