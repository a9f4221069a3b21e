// Processes, threads and cores of Linux.
#include "base/os/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <cstring>

extern char** environ;

namespace mnnc::os {

int processNumber() noexcept {
    return ::getpid();
}

std::vector<std::string> environmentVariables() {
    std::vector<std::string> variables;
    for (char** variable = environ; variable && *variable; ++variable) variables.emplace_back(*variable);
    return variables;
}

std::vector<uint64_t> userNumbers() {
    return {::geteuid(), ::getegid()};
}

SignalsBlocked::SignalsBlocked() noexcept {
    sigset_t all, before;
    static_assert(sizeof before <= sizeof before_);
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::memcpy(before_, &before, sizeof before);
}

SignalsBlocked::~SignalsBlocked() {
    sigset_t before;
    std::memcpy(&before, before_, sizeof before);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
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

int onlineCores() noexcept {
    return static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

void sleepWhile(const std::atomic<int>& number, int seen) noexcept {
    number.wait(seen, std::memory_order_acquire);
}

void wakeAll(std::atomic<int>& number) noexcept {
    number.notify_all();
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
    constexpr int kRequestPermission = 0x1023, kTileRegisters = 18;  // of <asm/prctl.h>, which may be older
    return ::syscall(SYS_arch_prctl, kRequestPermission, kTileRegisters) == 0;
#else
    return false;
#endif
}

}  // namespace mnnc::os
