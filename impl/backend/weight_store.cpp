#include "backend/weight_store.h"

namespace mnnc {

WeightStore::Buffer WeightStore::get(const ParamsPtr& params, const std::string& variant,
                                     const std::function<AlignedBuffer()>& make) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[Key(params.get(), variant)];
    if (Buffer alive = entry.buffer.lock()) return alive;
    auto made = std::make_shared<const AlignedBuffer>(make());
    entry.params = params;
    entry.buffer = made;
    return made;
}

int64_t WeightStore::bytes() const {
    const std::lock_guard lock(mutex_);
    int64_t total = 0;
    for (const auto& [key, entry] : entries_)
        if (const Buffer alive = entry.buffer.lock()) total += static_cast<int64_t>(alive->size());
    return total;
}

}  // namespace mnnc
