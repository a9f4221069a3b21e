// Finds or makes prepared weights by key. Each buffer is filled once, whichever session requests it first.
#include "backend/weight_store.h"

#include <bit>

#include "base/error.h"

namespace mnnc {

WeightStore::SlotPtr WeightStore::slot(const Owner& owner, const std::string& variant) {
    const std::lock_guard lock(mutex_);
    // Sessions that change constants leave expired owners behind. They are removed only at powers of two, so that the
    // search costs little for each slot that is added.
    if (slots_.size() >= 64 && std::has_single_bit(slots_.size()))
        std::erase_if(
            slots_, [](const auto& entry) { return entry.second.use_count() == 1 && entry.second->buffer.expired(); });
    SlotPtr& slot = slots_[Key(owner.get(), variant)];
    if (!slot) slot = std::make_shared<Slot>(owner);
    return slot;
}

std::shared_ptr<void> WeightStore::find(const Owner& owner, const std::string& variant, int64_t bytes, int64_t limit,
                                        const std::function<std::shared_ptr<void>()>& make) {
    const SlotPtr place = slot(owner, variant);
    const std::thread::id self = std::this_thread::get_id();
    if (place->maker.load(std::memory_order_relaxed) == self) return counted(bytes, limit, make);
    const std::lock_guard lock(place->mutex);
    if (auto alive = place->buffer.lock()) return alive;
    struct Making {
        Making(Slot& filled, std::thread::id by) : made(filled) { made.maker.store(by, std::memory_order_relaxed); }
        ~Making() { made.maker.store({}, std::memory_order_relaxed); }
        Slot& made;
    } const making(*place, self);
    std::shared_ptr<void> buffer = counted(bytes, limit, make);
    place->buffer = buffer;
    return buffer;
}

std::shared_ptr<void> WeightStore::counted(int64_t bytes, int64_t limit,
                                           const std::function<std::shared_ptr<void>()>& make) {
    const int64_t held = this->bytes();
    if (bytes > limit - held)
        fail(Status::LimitExceeded, "prepared weights need %lld bytes beside the %lld held; max_memory_bytes is %lld",
             asLong(bytes), asLong(held), asLong(limit));
    const auto made = std::make_shared<Counted>(held_, bytes, make());
    return {made, made->buffer.get()};
}

}  // namespace mnnc
