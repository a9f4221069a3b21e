// The log sink of an interpreter or runtime: a callback of the host, never a global.
#pragma once
#include <cstdint>
#include <string>

namespace mnnc {

enum class LogLevel : int32_t { Error = 1, Warning = 2, Info = 3, Debug = 4 };

struct LogSink {
    using Callback = void (*)(void* userData, int32_t level, const char* message);
    Callback callback = nullptr;
    void* userData = nullptr;
    LogLevel level = LogLevel::Warning;  // messages above it are dropped

    // Returns false also while this thread delivers a message: otherwise a callback that uses the library would cause
    // messages, which call it again without end.
    bool wants(LogLevel messageLevel) const noexcept;
    void operator()(LogLevel messageLevel, const std::string& message) const;
};

}  // namespace mnnc
