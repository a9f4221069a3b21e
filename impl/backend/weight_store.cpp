// Finds or makes prepared weights by key. Each is filled once, whichever session asks first.
#include "backend/weight_store.h"

#include "base/error.h"

namespace mnnc {

WeightStore::SlotPtr WeightStore::slot(const ParamsPtr& params, const std::string& variant) {
    const std::lock_guard lock(mutex_);
    SlotPtr& slot = slots_[Key(params.get(), variant)];
    if (!slot) slot = std::make_shared<Slot>(params);
    return slot;
}

std::shared_ptr<void> WeightStore::find(const ParamsPtr& params, const std::string& variant, int64_t bytes,
                                        int64_t limit, const std::function<std::shared_ptr<void>()>& make) {
    const SlotPtr place = slot(params, variant);
    const std::lock_guard lock(place->mutex);
    if (auto alive = place->buffer.lock()) return alive;
    const int64_t held = this->bytes();
    if (bytes > limit - held)
        fail(Status::LimitExceeded,
             "prepared weights need %lld bytes beside the %lld held; max_memory_bytes is %lld",
             static_cast<long long>(bytes), static_cast<long long>(held), static_cast<long long>(limit));
    const auto counted = std::make_shared<Counted>(held_, bytes, make());
    const std::shared_ptr<void> buffer(counted, counted->buffer.get());
    place->buffer = buffer;
    return buffer;
}

}  // namespace mnnc
