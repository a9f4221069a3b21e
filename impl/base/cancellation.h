// A caller's request to stop, as one call sees it.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/error.h"

namespace mnnc {

// The state of a cancellation token is one number: the lowest bit is set when it is triggered, and a reset of a
// triggered token makes the number larger. So a call that began with an untriggered token recognises a request by any
// other number, even if the token was reset before the call read it.
class Cancellation {
  public:
    Cancellation() = default;  // cannot be cancelled
    // `state` outlives the call.
    explicit Cancellation(const std::atomic<uint64_t>& state)
        : state_(&state), begin_(state.load(std::memory_order_acquire)) {}

    // Whether the caller can request to stop at all.
    bool possible() const noexcept { return state_ != nullptr; }
    bool requested() const noexcept {
        return state_ && ((begin_ & 1) || state_->load(std::memory_order_relaxed) != begin_);
    }
    // Throws Cancelled.
    void check() const {
        if (requested()) fail(Status::Cancelled, "the call was cancelled by its token");
    }

    static void trigger(std::atomic<uint64_t>& state) noexcept { state.fetch_or(1, std::memory_order_release); }
    static void reset(std::atomic<uint64_t>& state) noexcept {
        uint64_t now = state.load(std::memory_order_relaxed);
        while ((now & 1) && !state.compare_exchange_weak(now, now + 1, std::memory_order_release)) {
        }
    }

  private:
    const std::atomic<uint64_t>* state_ = nullptr;
    uint64_t begin_ = 0;
};

}  // namespace mnnc
