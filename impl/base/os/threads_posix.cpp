// Processes and threads by POSIX.
#include "base/os/threads.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>

namespace mnnc::os {

int processNumber() noexcept {
    return ::getpid();
}

std::vector<uint64_t> userNumbers() {
    return {::geteuid(), ::getegid()};
}

SignalsBlocked::SignalsBlocked() noexcept {
    sigset_t all, before;
    static_assert(sizeof before <= sizeof before_);
    sigfillset(&all);  // a macro on macOS
    // The system ends a process whose thread blocks the signal of its own fault, without asking a handler.
    for (const int fault : {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP}) sigdelset(&all, fault);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::memcpy(before_, &before, sizeof before);
}

SignalsBlocked::~SignalsBlocked() {
    sigset_t before;
    std::memcpy(&before, before_, sizeof before);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
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

}  // namespace mnnc::os
