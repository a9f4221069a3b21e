// Reads the speeds of cores from the kernel's description, and selects cores by speed.
#include "backend/cores.h"

#include <algorithm>
#include <cstdio>

#include "backend/backend.h"
#include "base/os/files.h"
#include "base/os/threads.h"

namespace mnnc {

namespace {

// Returns the number in a file of one line; 0 where there is none.
int64_t numberIn(const std::string& path) {
    std::FILE* file = os::openStream(path.c_str(), "r");
    if (!file) return 0;
    long long value = 0;
    const bool read = std::fscanf(file, "%18lld", &value) == 1;
    std::fclose(file);
    return read && value > 0 ? value : 0;
}

}  // namespace

std::vector<CoreSpeed> machineCores(const std::string& folder) {
    std::vector<CoreSpeed> cores;
    bool capacities = true, frequencies = true;
    std::vector<int64_t> frequency;
    for (const os::UsableCore& core : os::usableCores()) {
        const std::string place = folder + "/cpu" + std::to_string(core.number);
        cores.push_back({core.number, core.speed > 0 ? core.speed : numberIn(place + "/cpu_capacity")});
        frequency.push_back(numberIn(place + "/cpufreq/cpuinfo_max_freq"));
        capacities &= cores.back().speed > 0;
        frequencies &= frequency.back() > 0;
    }
    // All cores must be compared by the same measure, or by none.
    for (size_t i = 0; i < cores.size() && !capacities; ++i) cores[i].speed = frequencies ? frequency[i] : 0;
    return cores;
}

std::vector<int> coresOf(const std::vector<CoreSpeed>& machine, const std::vector<int>& wanted, Power power,
                         int threads) {
    if (power == Power::Normal) return wanted;
    std::vector<CoreSpeed> cores;
    for (const CoreSpeed& one : machine)
        if (wanted.empty() || std::find(wanted.begin(), wanted.end(), one.core) != wanted.end()) cores.push_back(one);
    std::stable_sort(cores.begin(), cores.end(), [&](const CoreSpeed& a, const CoreSpeed& b) {
        return power == Power::High ? a.speed > b.speed : a.speed < b.speed;
    });
    std::vector<int> chosen;
    for (size_t i = 0; i < cores.size(); ++i) {
        const bool another = i > 0 && cores[i].speed != cores[i - 1].speed;
        if (another && static_cast<int>(chosen.size()) >= threads) break;
        chosen.push_back(cores[i].core);
    }
    // Where no core is left out, the power adds nothing to `wanted`.
    if (chosen.size() == cores.size()) return wanted;
    return chosen;
}

}  // namespace mnnc
