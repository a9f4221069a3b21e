// Reads environment variables, usable cores and features of the CPU, and binds threads to cores, on Linux.
#include "base/os/threads.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace mnnc::os {

std::vector<std::string> environmentVariables() {
    std::vector<std::string> variables;
    for (char** variable = environ; variable && *variable; ++variable) variables.emplace_back(*variable);
    return variables;
}

std::vector<UsableCore> usableCores() {
    std::vector<UsableCore> cores;
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cores;
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &allowed)) cores.push_back({core, 0});
    return cores;
}

bool placeThread(ThreadHandle thread, const std::vector<int>& cores) noexcept {
#if !defined(__ANDROID__)
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : cores) {
        if (core < 0 || core >= CPU_SETSIZE) return false;
        CPU_SET(core, &set);
    }
    return ::pthread_setaffinity_np(thread, sizeof set, &set) == 0;
#else
    static_cast<void>(thread), static_cast<void>(cores);
    return false;
#endif
}

ArmCapabilities armCapabilities() noexcept {
#if defined(__aarch64__)
    return {::getauxval(AT_HWCAP), ::getauxval(AT_HWCAP2)};
#else
    return {};
#endif
}

bool allowMatrixUnit() noexcept {
#if defined(__x86_64__)
    // ARCH_REQ_XCOMP_PERM of <asm/prctl.h>, which old systems lack, and the state component XTILEDATA.
    constexpr int kRequestPermission = 0x1023, kTileRegisters = 18;
    return ::syscall(SYS_arch_prctl, kRequestPermission, kTileRegisters) == 0;
#else
    return false;
#endif
}

}  // namespace mnnc::os
