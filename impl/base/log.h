// The log sink of an interpreter or runtime: a callback of the host, never a global.
#pragma once
#include <cstdint>
#include <string>

namespace mnnc {

enum class LogLevel : int32_t { Error = 0, Warning = 1, Info = 2, Debug = 3 };

struct LogSink {
    using Callback = void (*)(void* userData, int32_t level, const char* message);
    Callback callback = nullptr;
    void* userData = nullptr;

    void operator()(LogLevel level, const std::string& message) const {
        if (callback) callback(userData, static_cast<int32_t>(level), message.c_str());
    }
};

}  // namespace mnnc
