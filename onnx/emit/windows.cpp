// See windows.h.
#include "windows.h"

#include <algorithm>

#include "base/error.h"

namespace mnnc::onnx {
namespace {

constexpr int64_t kMax = int64_t{1} << 30;

}  // namespace

std::vector<int64_t> windowNumbers(Call& c, const char* name, size_t count, int64_t otherwise, int64_t lowest) {
    std::vector<int64_t> list = c.integers(name).value_or(std::vector<int64_t>());
    if (list.empty()) list.assign(count, otherwise);
    if (list.size() != count) fail(Status::BadFormat, "%s has %zu numbers in place of %zu", name, list.size(), count);
    for (const int64_t value : list)
        if (value < lowest || value > kMax)
            fail(Status::BadRange, "%s has the number %lld; %lld to %lld are possible", name, asLong(value),
                 asLong(lowest), asLong(kMax));
    return list;
}

bool Windows::dilated() const {
    return std::any_of(dilations.begin(), dilations.end(), [](int64_t d) { return d != 1; });
}

bool Windows::padded() const {
    return same || std::any_of(begin.begin(), begin.end(), [](int64_t p) { return p != 0; }) ||
           std::any_of(end.begin(), end.end(), [](int64_t p) { return p != 0; });
}

int64_t Windows::outExtent(size_t i, int64_t in) const {
    if (same) return (in + strides[i] - 1) / strides[i];
    const int64_t room = in + begin[i] + end[i] - reach(i);
    if (room < 0) return 0;
    int64_t out = (ceil ? (room + strides[i] - 1) / strides[i] : room / strides[i]) + 1;
    // Drops a last window that would begin after the map and its front padding.
    if (ceil && (out - 1) * strides[i] >= in + begin[i]) --out;
    return out;
}

Windows readWindows(Call& c, const Value& x, std::vector<int64_t> kernel, bool transposed) {
    Windows w;
    if (x.rank() < 3) refuse("its input has rank %zu; there are no spatial axes", x.rank());
    w.axes = x.rank() - 2;
    w.kernel =
        c.has("kernel_shape") || kernel.empty() ? windowNumbers(c, "kernel_shape", w.axes, 0, 1) : std::move(kernel);
    if (w.kernel.size() != w.axes)
        fail(Status::BadFormat, "its windows have %zu axes, its input has rank %zu", w.kernel.size(), x.rank());
    w.strides = windowNumbers(c, "strides", w.axes, 1, 1);
    w.dilations = windowNumbers(c, "dilations", w.axes, 1, 1);
    w.ceil = c.integer("ceil_mode", 0) != 0;
    w.begin.assign(w.axes, 0);
    w.end.assign(w.axes, 0);
    const std::string mode = c.text("auto_pad", "NOTSET");
    if (mode == "NOTSET" || mode.empty()) {
        const std::vector<int64_t> pads = windowNumbers(c, "pads", 2 * w.axes, 0, -kMax);
        for (size_t i = 0; i < w.axes; ++i) {
            w.begin[i] = pads[i];
            w.end[i] = pads[w.axes + i];
        }
    } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
        if (transposed) return w;
        for (size_t i = 0; i < w.axes && mode == "SAME_UPPER"; ++i)
            w.same = w.same || (w.strides[i] != 1 && !x.fixed(i + 2));
        for (size_t i = 0; i < w.axes && !w.same; ++i) {
            // With a stride of 1 the padding does not depend on the extent. With a stride of 2 and an odd reach, the
            // padding of odd extents fits even ones, too: it has one more zero after the map, which no window reads.
            const bool odd = mode == "SAME_LOWER" && w.strides[i] == 2 && w.reach(i) % 2 == 1 && !x.fixed(i + 2);
            const int64_t in = w.strides[i] == 1 ? kMax : odd ? kMax + 1 : x.extent(i + 2);
            const int64_t out = (in + w.strides[i] - 1) / w.strides[i];
            const int64_t total = std::max<int64_t>(0, (out - 1) * w.strides[i] + w.reach(i) - in);
            w.begin[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
            w.end[i] = total - w.begin[i];
        }
        w.ceil = false;
    } else if (mode != "VALID") {
        fail(Status::BadFormat, "auto_pad '%s' is unknown", mode.c_str());
    }
    return w;
}

int64_t requireWindow(Call& c, const Value& x, size_t i, size_t probe, int64_t extent) {
    if (extent >= 1) return extent;
    if (c.b.lenient && !x.fixed(i + 2)) {
        ++c.b.unchecked;
        return 1 + static_cast<int64_t>(probe);
    }
    fail(Status::ComputeSizeError, "spatial axis %zu has %lld elements, which are fewer than a window has", i,
         asLong(x.dims[probe][i + 2]));
}

int32_t narrow(int64_t value) {
    return intList({value})->ints[0];
}

}  // namespace mnnc::onnx
