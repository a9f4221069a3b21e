// Formats log messages and passes them to the host's callback.
#include "base/log.h"

namespace mnnc {

namespace {

// A plain type: a thread-local with a destructor would keep the library mapped after dlclose.
thread_local bool delivering = false;

}  // namespace

bool LogSink::wants(LogLevel of) const noexcept {
    return callback && of <= level && !delivering;
}

void LogSink::operator()(LogLevel of, const std::string& message) const {
    if (!wants(of)) return;
    delivering = true;
    callback(userData, static_cast<int32_t>(of), message.c_str());
    delivering = false;
}

}  // namespace mnnc
