// The process, its threads and the cores that they run on.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace mnnc::os {

using ThreadHandle = std::thread::native_handle_type;

// Returns a number that differs in a child of fork(); always the same one on a system without fork().
int processNumber() noexcept;
// Variables of the environment ("NAME=VALUE"), and numbers for the user of the process.
std::vector<std::string> environmentVariables();
std::vector<uint64_t> userNumbers();

// Threads that are made in this scope block every signal but those of their own faults, so that the host's handlers run
// on the host's threads. Does nothing on a system whose signals reach no thread of the library.
class SignalsBlocked {
  public:
    SignalsBlocked() noexcept;
    ~SignalsBlocked();
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
    alignas(uint64_t) unsigned char before_[128];
};

struct UsableCore {
    int number = 0;
    int64_t speed = 0;  // to compare cores of one machine; 0: unknown
};
// Returns the cores that the process may use. Empty: they are unknown, or the system binds no threads.
std::vector<UsableCore> usableCores();
// Returns false where the system does not allow it, or cannot bind threads.
bool placeThread(ThreadHandle thread, const std::vector<int>& cores) noexcept;
// Returns the number of cores of the machine that are online; 0 or less: unknown.
int onlineCores() noexcept;

// sleepWhile() sleeps while the number is `seen`; wakeAll() wakes all threads that sleep on the number.
// std::atomic::wait() does the same, but where the standard library emulates it, a thread may miss the notification.
void sleepWhile(const std::atomic<int>& number, int seen) noexcept;
void wakeAll(std::atomic<int>& number) noexcept;

// The features of an Arm core as Linux reports them in AT_HWCAP and AT_HWCAP2; zeros on other systems.
struct ArmCapabilities {
    unsigned long first = 0, second = 0;
};
ArmCapabilities armCapabilities() noexcept;

// Asks the system to let this process use the matrix unit of x86 (AMX); from then on the system saves the unit's
// registers. Returns false where the system refuses, or where such a request does not exist.
bool allowMatrixUnit() noexcept;

}  // namespace mnnc::os
