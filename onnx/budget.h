// Limits the bytes of constants while a model is converted: a small file can ask for any number of them.
#pragma once
#include <cstdint>

#include "base/error.h"

namespace mnnc::onnx {

class Budget {
  public:
    // given: the caller's limit; 0: a limit that follows from the bytes of the model.
    Budget(uint64_t given, uint64_t modelBytes)
        : limit_(given ? given : kFree + kTimes * modelBytes), grows_(given == 0) {}

    // External data counts as bytes of the model, too, once for each byte of its files.
    void foundExternal(uint64_t bytes) {
        if (grows_) limit_ += kTimes * bytes;
    }
    // Throws LimitExceeded.
    void take(uint64_t bytes) {
        require(bytes);
        taken_ += bytes;
    }
    // Throws LimitExceeded where take() would.
    void require(uint64_t bytes) const {
        if (bytes > limit_ - taken_)
            fail(Status::LimitExceeded,
                 "constants take more than %llu bytes while the model is converted: max_memory_bytes allows no more",
                 static_cast<unsigned long long>(limit_));
    }
    // Gives taken bytes back, because they have been freed.
    void release(uint64_t bytes) { taken_ -= bytes; }
    uint64_t limit() const { return limit_; }

  private:
    static constexpr uint64_t kFree = uint64_t{1} << 30, kTimes = 8;
    uint64_t limit_, taken_ = 0;
    bool grows_;
};

}  // namespace mnnc::onnx
