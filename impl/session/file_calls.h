// What calls of the system on files need: descriptors that close themselves, calls that signals interrupt, texts.
#pragma once
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace mnnc {

struct Descriptor {
    explicit Descriptor(int number) : fd(number) {}
    ~Descriptor() {
        if (fd >= 0) close(fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int fd;
};

// The result of a call of the system that no signal has interrupted.
template <typename Call>
auto uninterrupted(Call&& call) {
    for (;;)
        if (const auto result = call(); result != -1 || errno != EINTR) return result;
}

// Text of errno; std::strerror is not thread-safe.
inline std::string osText() {
    return std::generic_category().message(errno);
}

}  // namespace mnnc
