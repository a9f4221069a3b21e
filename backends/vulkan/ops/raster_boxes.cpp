// Turns regions into boxes of elements, quads or channels where both storages allow it.
#include "backends/vulkan/ops/raster_boxes.h"

#include <algorithm>
#include <cstdlib>

namespace mnnc::vulkan {

namespace {

constexpr int64_t kLanes = 4;

// Merges neighbouring axes that are contiguous in both tensors; extents of 1 vanish.
void merge(std::vector<CopyAxis>& axes) {
    std::erase_if(axes, [](const CopyAxis& axis) { return axis.size == 1; });
    for (size_t i = axes.size(); i-- > 1;) {
        CopyAxis &outer = axes[i - 1], &inner = axes[i];
        if (outer.src != inner.src * inner.size || outer.dst != inner.dst * inner.size) continue;
        outer = {outer.size * inner.size, inner.src, inner.dst};
        axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

// Lets neighbouring invocations write neighbouring elements. Axes with a stride that is not positive keep their order.
void sortForWrites(std::vector<CopyAxis>& axes) {
    if (std::all_of(axes.begin(), axes.end(), [](const CopyAxis& axis) { return axis.dst > 0; }))
        std::stable_sort(axes.begin(), axes.end(), [](const CopyAxis& a, const CopyAxis& b) { return a.dst > b.dst; });
}

// One side of a region in channels: their number, the elements of each, and the start of the region.
struct Side {
    int64_t channels, plane, start, pixel;
    Side(const Operand& tensor, int64_t offset)
        : channels(tensor.shape.at(1)), plane(tensor.plane()), start(offset / plane), pixel(offset % plane) {}
};

// A region's axes, divided by their unit: whole channels on both sides, or elements inside of a channel.
struct ChannelView {
    Side src, dst;
    std::vector<CopyAxis> channels;  // strides in channels
    std::vector<CopyAxis> pixels;

    static std::optional<ChannelView> of(const Region& region, const Operand& source, const Operand& destination) {
        ChannelView view{Side(source, region.src.offset), Side(destination, region.dst.offset), {}, {}};
        std::vector<CopyAxis> axes = elementBox(region).axes;
        for (const CopyAxis& axis : axes)
            if (!view.add(axis)) return std::nullopt;
        if (!view.inside(view.src, &CopyAxis::src) || !view.inside(view.dst, &CopyAxis::dst)) return std::nullopt;
        merge(view.pixels);
        return view;
    }

  private:
    bool add(const CopyAxis& axis) {
        const auto reach = [&](int64_t stride) { return std::abs(stride) * (axis.size - 1); };
        if (reach(axis.src) < src.plane && reach(axis.dst) < dst.plane) {
            pixels.push_back(axis);
            return true;
        }
        if (axis.src % src.plane == 0 && axis.dst % dst.plane == 0) {
            channels.push_back({axis.size, axis.src / src.plane, axis.dst / dst.plane});
            return true;
        }
        // This axis runs through one channel after another.
        if (axis.src <= 0 || axis.dst <= 0 || src.plane % axis.src || dst.plane % axis.dst) return false;
        const int64_t inner = src.plane / axis.src;
        if (dst.plane / axis.dst != inner || axis.size % inner) return false;
        channels.push_back({axis.size / inner, 1, 1});
        if (inner > 1) pixels.push_back({inner, axis.src, axis.dst});
        return true;
    }

    // Returns whether no pixel leaves its channel.
    bool inside(const Side& side, int64_t CopyAxis::*stride) const {
        int64_t low = side.pixel, high = side.pixel;
        for (const CopyAxis& axis : pixels) {
            const int64_t reach = axis.*stride * (axis.size - 1);
            (reach < 0 ? low : high) += reach;
        }
        return low >= 0 && high < side.plane;
    }
};

// Converts a stride of whole channels to one of quads; std::nullopt when quads would not stay quads.
std::optional<int64_t> quadStride(int64_t channels, const Side& side) {
    if (side.channels % kLanes == 0) return channels % kLanes ? std::nullopt : std::optional(channels / kLanes);
    if (channels % side.channels) return std::nullopt;
    return channels / side.channels * ceilDiv(side.channels, kLanes);
}

// Returns the axis of neighbouring channels among `channels` and removes it from them.
CopyAxis takeRun(std::vector<CopyAxis>& channels) {
    const auto found = std::find_if(channels.begin(), channels.end(),
                                    [](const CopyAxis& axis) { return axis.src == 1 && axis.dst == 1; });
    if (found == channels.end()) return {1, 1, 1};
    const CopyAxis run = *found;
    channels.erase(found);
    return run;
}

}  // namespace

int64_t CopyBox::count() const noexcept {
    int64_t count = 1;
    for (const CopyAxis& axis : axes) count *= axis.size;
    return count;
}

CopyBox elementBox(const Region& region) {
    CopyBox box{region.src.offset, region.dst.offset, {}};
    for (int i = 0; i < 3; ++i) box.axes.push_back({region.size[i], region.src.stride[i], region.dst.stride[i]});
    merge(box.axes);
    sortForWrites(box.axes);
    merge(box.axes);
    return box;
}

std::optional<CopyBox> inQuads(const CopyBox& elements) {
    CopyBox box = elements;
    const auto divide = [](int64_t& value) {
        const bool whole = value % kLanes == 0;
        value /= kLanes;
        return whole;
    };
    if (box.axes.empty() || box.axes.back().src != 1 || box.axes.back().dst != 1) return std::nullopt;
    bool whole = divide(box.src) && divide(box.dst) && divide(box.axes.back().size);
    for (size_t i = 0; whole && i + 1 < box.axes.size(); ++i)
        whole = divide(box.axes[i].src) && divide(box.axes[i].dst);
    if (!whole) return std::nullopt;
    return box;
}

std::optional<CopyBox> quadBox(const Region& region, const Operand& source, const Operand& destination) {
    std::optional<ChannelView> view = ChannelView::of(region, source, destination);
    if (!view) return std::nullopt;
    const Side &src = view->src, &dst = view->dst;
    CopyAxis run = takeRun(view->channels);
    // Whole batches are contiguous.
    if (src.channels == dst.channels && run.size > src.channels && run.size % src.channels == 0 &&
        src.start % src.channels == 0 && dst.start % dst.channels == 0) {
        view->channels.push_back({run.size / src.channels, src.channels, src.channels});
        run.size = src.channels;
    }
    const int64_t srcChannel = src.start % src.channels, dstChannel = dst.start % dst.channels;
    if (srcChannel % kLanes || dstChannel % kLanes) return std::nullopt;
    if (run.size % kLanes) {
        // The last quad of a batch, with its padding lanes, is also whole.
        if (srcChannel + run.size != src.channels || dstChannel + run.size != dst.channels) return std::nullopt;
        for (const CopyAxis& axis : view->channels)
            if (axis.src % src.channels || axis.dst % dst.channels) return std::nullopt;
    }
    for (const auto& [side, channel] : {std::pair{src, srcChannel}, {dst, dstChannel}})
        if (side.channels % kLanes && channel + run.size > side.channels) return std::nullopt;

    const auto quadOffset = [](const Side& side, int64_t channel) {
        return (side.start / side.channels * ceilDiv(side.channels, kLanes) + channel / kLanes) * side.plane +
               side.pixel;
    };
    CopyBox box{quadOffset(src, srcChannel), quadOffset(dst, dstChannel), {}};
    for (const CopyAxis& axis : view->channels) {
        const auto from = quadStride(axis.src, src), to = quadStride(axis.dst, dst);
        if (!from || !to) return std::nullopt;
        box.axes.push_back({axis.size, *from * src.plane, *to * dst.plane});
    }
    box.axes.push_back({ceilDiv(run.size, kLanes), src.plane, dst.plane});
    box.axes.insert(box.axes.end(), view->pixels.begin(), view->pixels.end());
    sortForWrites(box.axes);
    merge(box.axes);
    if (box.axes.size() > CopyBox::kMaxAxes) return std::nullopt;
    return box;
}

std::optional<CopyBox> channelBox(const Region& region, const Operand& source, const Operand& destination) {
    std::optional<ChannelView> view = ChannelView::of(region, source, destination);
    if (!view || view->src.plane != view->dst.plane || view->src.pixel != 0 || view->dst.pixel != 0)
        return std::nullopt;
    const int64_t plane = view->src.plane;
    const bool whole = plane == 1 ? view->pixels.empty()
                                  : view->pixels.size() == 1 && view->pixels[0].size == plane &&
                                        view->pixels[0].src == 1 && view->pixels[0].dst == 1;
    if (!whole) return std::nullopt;
    return CopyBox{view->src.start, view->dst.start, view->channels};
}

}  // namespace mnnc::vulkan
