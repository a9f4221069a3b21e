// Each growth is compared with the peak at once: of a session by itself, of the weights in all sessions that share
// them. A session or a weight store that grows writes its own number first and reads the other one then, so that of two
// that grow at the same time at least one sees both.
#include "backend/held_memory.h"

#include <algorithm>
#include <utility>

namespace mnnc {

void WeightBytes::add(int64_t bytes) noexcept {
    bytes_ += bytes;
    if (bytes <= 0) return;
    const std::lock_guard lock(mutex_);
    for (HeldMemory* session : sessions_) session->now();
}

HeldMemory::HeldMemory(std::shared_ptr<WeightBytes> weights) : weights_(std::move(weights)) {
    const std::lock_guard lock(weights_->mutex_);
    weights_->sessions_.push_back(this);
}

HeldMemory::~HeldMemory() {
    const std::lock_guard lock(weights_->mutex_);
    std::erase(weights_->sessions_, this);
}

void HeldMemory::add(int64_t bytes) noexcept {
    own_ += bytes;
    if (bytes > 0) now();
}

HeldMemory::Now HeldMemory::now() noexcept {
    const int64_t weights = weights_->value(), total = own_ + weights;
    int64_t peak = peak_;
    while (peak < total && !peak_.compare_exchange_weak(peak, total)) {
    }
    return {weights, total, std::max(peak, total)};
}

}  // namespace mnnc
