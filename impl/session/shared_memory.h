// Memory of programs that sessions share: it is counted with the prepared weights of their interpreter.
#pragma once
#include <memory>

#include "base/aligned.h"
#include "session/session_context.h"

namespace mnnc {

class SharedMemory {
  public:
    // Throws LimitExceeded when this exceeds the limit of the session that plans, OutOfMemory.
    SharedMemory(const SessionContext& context, int64_t bytes, const char* what) : held_(context.weights->held()) {
        context.checkBudget(bytes, what);
        buffer_ = AlignedBuffer(bytes > 0 ? bytes : 1, context.hostMemory);
        held_->add(size());
    }
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    ~SharedMemory() { held_->add(-size()); }

    void* data() noexcept { return buffer_.data(); }
    const void* data() const noexcept { return buffer_.data(); }

  private:
    int64_t size() const noexcept { return static_cast<int64_t>(buffer_.size()); }

    const std::shared_ptr<WeightBytes> held_;
    AlignedBuffer buffer_;
};

// Counts memory of such programs that is allocated elsewhere.
class SharedCharge {
  public:
    // Throws LimitExceeded as SharedMemory does.
    SharedCharge(const SessionContext& context, int64_t bytes, const char* what)
        : held_(context.weights->held()), bytes_(bytes) {
        context.checkBudget(bytes, what);
        held_->add(bytes_);
    }
    SharedCharge(const SharedCharge&) = delete;
    SharedCharge& operator=(const SharedCharge&) = delete;
    ~SharedCharge() { held_->add(-bytes_); }

  private:
    const std::shared_ptr<WeightBytes> held_;
    const int64_t bytes_;
};

}  // namespace mnnc
