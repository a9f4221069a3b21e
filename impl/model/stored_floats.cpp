// Floats that stay in place, or are copied where they are not aligned.
#include "model/stored_floats.h"

#include <cstring>

namespace mnnc {

FloatView FloatView::hold(HeldBytes held) {
    if (held.bytes.empty()) return {};
    const size_t count = held.bytes.size() / sizeof(float);
    if (reinterpret_cast<uintptr_t>(held.bytes.data()) % alignof(float) != 0) {
        std::vector<float> values(count);
        std::memcpy(values.data(), held.bytes.data(), count * sizeof(float));
        return own(std::move(values));
    }
    FloatView view;
    view.values_ = {reinterpret_cast<const float*>(held.bytes.data()), count};
    view.read_ = std::move(held.owner);
    return view;
}

const float* FloatSource::at(size_t first, size_t count) {
    if (!whole_.empty()) return whole_.data() + first;
    if (read_) return read_(first, count);
    piece_ = {};  // releases its memory, so that the next piece can use it
    piece_ = FloatView::hold(stored_.read(first * sizeof(float), count * sizeof(float)));
    return piece_.data();
}

}  // namespace mnnc
