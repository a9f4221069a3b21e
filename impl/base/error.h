// The only error type inside the library. The C boundary turns it into a code and a sentence.
#pragma once
#include <cstdint>
#include <exception>
#include <string>

namespace mnnc {

// Numbers 0..37 come from the reference runtime; the library's own start at 100. They equal the MNN_* constants of
// mnn_c.h.
enum class Status : int32_t {
    Ok = 0,
    OutOfMemory = 1,
    NotSupported = 2,
    ComputeSizeError = 3,  // a shape rule refused its inputs
    NoExecution = 4,
    InvalidValue = 5,
    InputDataError = 10,
    CallbackStop = 11,
    FileOpenFailed = 32,
    FileReadFailed = 34,  // the reference uses the number for failed resizes; here it means a failed read
    FileNotExist = 36,
    NullArgument = 100,
    BadHandle = 101,
    BadState = 102,
    NotFound = 103,
    BadRange = 104,
    BadType = 105,
    BadFormat = 106,  // malformed model
    BadIndex = 107,
    Truncated = 108,
    Busy = 109,
    BackendMissing = 110,
    VersionMismatch = 113,
    Cancelled = 114,
    BadParameter = 115,   // an operator carries the wrong or an incomplete parameter table
    BadWeights = 116,     // weights are missing, too short or not decodable
    Overflow = 117,       // a product of extents, an offset or a byte size does not fit
    Cycle = 118,          // use before definition, or a subgraph that reaches itself
    LimitExceeded = 119,  // max_memory_bytes or max_loop_iterations was crossed
    BufferTooSmall = 120,
    DeviceLost = 121,       // a device stopped working; its sessions are unusable
    DriverError = 122,      // a device driver gave an unexpected result
    FileChanged = 123,      // a file is no longer the one that was loaded
    FileWriteFailed = 124,  // a file could not be written
    Timeout = 125,          // the call did not end in time
    Internal = 199,
};

// Converts an integer for %lld in a format.
constexpr long long asLong(int64_t value) {
    return value;
}

class Error : public std::exception {
  public:
    Error(Status status, std::string message) : status_(status), message_(std::move(message)) {}
    Status status() const noexcept { return status_; }
    const std::string& message() const noexcept { return message_; }
    const char* what() const noexcept override { return message_.c_str(); }

  private:
    Status status_;
    std::string message_;
};

// Throws Error with a printf-style sentence.
[[noreturn, gnu::format(printf, 2, 3)]] void fail(Status status, const char* format, ...);

// Formats as printf() does, into a std::string.
[[gnu::format(printf, 1, 2)]] std::string format(const char* format, ...);

}  // namespace mnnc
