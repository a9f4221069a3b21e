// Each growth is compared with the peak at once: a session compares for itself, the weights compare for all sessions
// that share them. A growing session or weight store first writes its own number and then reads the other one, so that
// of two that grow at the same time at least one sees both growths.
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
