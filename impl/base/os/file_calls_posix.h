// Helpers for system calls on files: descriptors that close themselves, calls that a signal may interrupt.
#pragma once
#include <unistd.h>

#include <cerrno>

namespace mnnc::os {

struct Descriptor {
    explicit Descriptor(int number) : fd(number) {}
    ~Descriptor() {
        if (fd >= 0) close(fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int fd;
};

// Repeats a system call until no signal interrupts it, and returns its result.
template <typename Call>
auto uninterrupted(Call&& call) {
    for (;;)
        if (const auto result = call(); result != -1 || errno != EINTR) return result;
}

}  // namespace mnnc::os
