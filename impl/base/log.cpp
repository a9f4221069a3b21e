// Formats log messages and passes them to the host's callback.
#include "base/log.h"

namespace mnnc {

namespace {

// A plain type: a thread-local with a destructor would keep the library mapped after dlclose.
thread_local bool delivering = false;

}  // namespace

bool LogSink::wants(LogLevel messageLevel) const noexcept {
    return callback && messageLevel <= level && !delivering;
}

void LogSink::operator()(LogLevel messageLevel, const std::string& message) const {
    if (!wants(messageLevel)) return;
    delivering = true;
    callback(userData, static_cast<int32_t>(messageLevel), message.c_str());
    delivering = false;
}

}  // namespace mnnc
