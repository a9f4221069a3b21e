// Processes, threads and cores of Windows.
#include "base/os/threads.h"

#include <pthread.h>

#include <cstring>

#include "base/os/api_windows.h"

namespace mnnc::os {

// Windows has no fork().
int processNumber() noexcept {
    return 1;
}

std::vector<std::string> environmentVariables() {
    std::vector<std::string> variables;
    wchar_t* const all = GetEnvironmentStringsW();
    for (const wchar_t* one = all; one && *one;) {
        variables.push_back(utf8Of(one));
        while (*one) ++one;
        ++one;
    }
    if (all) FreeEnvironmentStringsW(all);
    return variables;
}

std::vector<uint64_t> userNumbers() {
    return {};
}

// No signal of Windows runs on a thread of the library.
SignalsBlocked::SignalsBlocked() noexcept : before_{} {}
SignalsBlocked::~SignalsBlocked() {
    static_cast<void>(before_);
}

namespace {

// SYSTEM_CPU_SET_INFORMATION, which not every header of Windows has.
struct CpuSet {
    DWORD bytes, type;  // 0: the fields are those of a core
    DWORD id;
    WORD group;
    BYTE index, coreIndex, cacheIndex, nodeIndex, efficiencyClass, flags;
    DWORD reserved;
    DWORD64 allocation;
};

// Returns the efficiency class of each core of the first group, by its number; empty where it is unknown.
std::vector<int64_t> coreClasses() {
    std::vector<int64_t> classes;
    using Function = BOOL(WINAPI*)(void*, ULONG, ULONG*, HANDLE, ULONG);
    const HMODULE kernel = GetModuleHandleW(L"kernel32.dll");
    const auto function = reinterpret_cast<Function>(
        reinterpret_cast<void*>(kernel ? GetProcAddress(kernel, "GetSystemCpuSetInformation") : nullptr));
    ULONG bytes = 0;
    if (!function || function(nullptr, 0, &bytes, GetCurrentProcess(), 0) || bytes == 0) return classes;
    std::vector<unsigned char> buffer(bytes);
    if (!function(buffer.data(), bytes, &bytes, GetCurrentProcess(), 0)) return classes;
    for (size_t at = 0; at + sizeof(CpuSet) <= bytes;) {
        CpuSet one;
        std::memcpy(&one, buffer.data() + at, sizeof one);
        if (one.bytes == 0) break;
        at += one.bytes;
        if (one.type != 0 || one.group != 0) continue;
        const size_t number = one.index;
        if (classes.size() <= number) classes.resize(number + 1);
        classes[number] = int64_t{one.efficiencyClass} + 1;  // a higher class is a faster core
    }
    return classes;
}

// The native handle of a thread is one of Windows with libc++, and one of winpthreads with libstdc++.
[[maybe_unused]] HANDLE handleOfThread(HANDLE thread) noexcept {
    return thread;
}
[[maybe_unused]] HANDLE handleOfThread(pthread_t thread) noexcept {
    return pthread_gethandle(thread);
}

}  // namespace

std::vector<UsableCore> usableCores() {
    std::vector<UsableCore> cores;
    DWORD_PTR ours = 0, all = 0;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &ours, &all)) return cores;
    const std::vector<int64_t> classes = coreClasses();
    for (size_t core = 0; core < 8 * sizeof ours; ++core)
        if (ours >> core & 1) cores.push_back({static_cast<int>(core), core < classes.size() ? classes[core] : 0});
    return cores;
}

bool placeThread(ThreadHandle thread, const std::vector<int>& cores) noexcept {
    DWORD_PTR mask = 0;
    for (const int core : cores) {
        if (core < 0 || core >= static_cast<int>(8 * sizeof mask)) return false;
        mask |= DWORD_PTR{1} << core;
    }
    return SetThreadAffinityMask(handleOfThread(thread), mask) != 0;
}

int onlineCores() noexcept {
    return static_cast<int>(GetActiveProcessorCount(ALL_PROCESSOR_GROUPS));
}

void sleepWhile(const std::atomic<int>& number, int seen) noexcept {
    static_assert(sizeof number == sizeof seen);
    while (number.load(std::memory_order_acquire) == seen)
        WaitOnAddress(const_cast<std::atomic<int>*>(&number), &seen, sizeof seen, INFINITE);
}

void wakeAll(std::atomic<int>& number) noexcept {
    WakeByAddressAll(&number);
}

ArmCapabilities armCapabilities() noexcept {
    return {};
}

// The request was not tried on Windows.
bool allowMatrixUnit() noexcept {
    return false;
}

}  // namespace mnnc::os
