// Copies between storages and the layouts NCHW, NHWC and NC4HW4.
#include "tensor/host_copy.h"

#include <algorithm>
#include <cstring>

#include "tensor/element_types.h"
#include "tensor/transpose.h"

namespace mnnc {

namespace {

// The strides of a layout, which give the offset of element (n, c, s); s counts over all axes that are neither batch
// nor channel.
struct ChannelStrides {
    int64_t batch, channel, plane, block, lanes;
    int64_t at(int64_t n, int64_t c, int64_t s) const {
        return n * batch + (c / lanes) * block + (c % lanes) * channel + s * plane;
    }
    // Returns how many of the `all` channels of one place are contiguous.
    int64_t run(int64_t all) const { return block == lanes ? all : lanes; }
};

struct Extents {
    int64_t batch = 1, channel = 1, plane = 1;
};

Extents extentsOf(const Tensor& tensor) {
    const Shape& shape = tensor.shape;
    const int rank = shape.rank();
    Extents e;
    if (rank == 0) return e;
    e.batch = shape[0];
    if (rank == 1) return e;
    const bool last = tensor.format == Format::NHWC;
    e.channel = shape[last ? rank - 1 : 1];
    e.plane = last ? shape.elements(1, rank - 1) : shape.elements(2, rank);
    return e;
}

ChannelStrides channelFirst(const Extents& e) {
    return {e.channel * e.plane, 0, 1, e.plane, 1};
}
ChannelStrides channelLast(const Extents& e) {
    return {e.channel * e.plane, 0, e.channel, 1, 1};
}
// The channel-packed storage of this library: batch outermost.
ChannelStrides packed(const Extents& e, int64_t lanes) {
    return {ceilDiv(e.channel, lanes) * lanes * e.plane, 1, lanes, e.plane * lanes, lanes};
}
// The public NC4HW4: channel blocks outermost, batches inside.
ChannelStrides publicPacked(const Extents& e) {
    return {e.plane * 4, 1, 4, e.batch * e.plane * 4, 4};
}

ChannelStrides storageOf(const Operand& tensor, const Extents& e) {
    if (tensor.channelBlock > 1) return packed(e, tensor.channelBlock);
    return tensor.format == Format::NHWC ? channelLast(e) : channelFirst(e);
}

ChannelStrides layoutOf(const Operand& tensor, Format layout, const Extents& e) {
    if (tensor.shape.rank() < 3) return channelFirst(e);  // there is no separate channel axis
    if (layout == Format::NC4HW4) return publicPacked(e);
    return layout == Format::NHWC ? channelLast(e) : channelFirst(e);
}

// Copies channels first .. first + count of all places of an image. The channels are contiguous in at least one of the
// two layouts; a single channel may have contiguous places instead.
template <size_t kBytes>
void moveChannels(int64_t count, int64_t plane, const char* src, const ChannelStrides& from, char* dst,
                  const ChannelStrides& to) {
    constexpr auto kWidth = static_cast<int64_t>(kBytes);
    const bool srcPlanes = from.plane == 1 && from.lanes == 1, dstPlanes = to.plane == 1 && to.lanes == 1;
    if (srcPlanes && dstPlanes && count == 1)
        std::memcpy(dst, src, static_cast<size_t>(plane * kWidth));
    else if (dstPlanes)
        transpose<kBytes>(src, from.plane * kWidth, plane, count, dst, to.block * kWidth);
    else if (srcPlanes)
        transpose<kBytes>(src, from.block * kWidth, count, plane, dst, to.plane * kWidth);
    else
        for (int64_t i = 0; i < plane; ++i)
            std::memcpy(dst + i * to.plane * kWidth, src + i * from.plane * kWidth,
                        static_cast<size_t>(count * kWidth));
}

// Copies by memcpy, because a caller's buffer may have any alignment.
template <size_t kBytes>
void move(const Extents& e, const char* src, const ChannelStrides& from, char* dst, const ChannelStrides& to) {
    constexpr auto kWidth = static_cast<int64_t>(kBytes);
    const int64_t srcRun = from.run(e.channel), dstRun = to.run(e.channel);
    if (e.plane == 1 && srcRun == e.channel && dstRun == e.channel) {
        // Both sides have contiguous channels.
        for (int64_t n = 0; n < e.batch; ++n)
            std::memcpy(dst + n * to.batch * kWidth, src + n * from.batch * kWidth,
                        static_cast<size_t>(e.channel * kWidth));
        return;
    }
    // A layout with contiguous places has no contiguous channels to preserve.
    const bool srcPlanes = from.lanes == 1 && srcRun == 1, dstPlanes = to.lanes == 1 && dstRun == 1;
    const int64_t step = srcPlanes ? dstRun : dstPlanes ? srcRun : std::min(srcRun, dstRun);
    for (int64_t n = 0; n < e.batch; ++n)
        for (int64_t c = 0; c < e.channel; c += step)
            moveChannels<kBytes>(std::min(step, e.channel - c), e.plane, src + from.at(n, c, 0) * kWidth, from,
                                 dst + to.at(n, c, 0) * kWidth, to);
}

void moveAny(DataType type, const Extents& e, const void* src, const ChannelStrides& from, void* dst,
             const ChannelStrides& to) {
    const auto* s = static_cast<const char*>(src);
    auto* d = static_cast<char*>(dst);
    withBits(type, [&]<typename T>(T) { move<sizeof(T)>(e, s, from, d, to); });
}

}  // namespace

int64_t hostBytes(const Tensor& tensor, Format layout) {
    int64_t count = tensor.elements();
    if (layout == Format::NC4HW4 && tensor.shape.rank() >= 3) {
        const Extents e = extentsOf(tensor);
        count = checkedMul(checkedMul(e.batch, roundUp(e.channel, 4), "host size"), e.plane, "host size");
    }
    return checkedMul(count, static_cast<int64_t>(elementBytes(tensor.type)), "host size");
}

bool sameLayout(const Operand& tensor, Format layout) {
    const bool rows = tensor.shape.rank() < 3;
    // Complete blocks of channels with a single place are row-major.
    if (tensor.channelBlock != 1)
        return (rows || layout != Format::NC4HW4) && tensor.plane() == 1 &&
               tensor.shape.at(1) % tensor.channelBlock == 0;
    if (rows) return true;
    return layout != Format::NC4HW4 && (layout == Format::NHWC) == (tensor.format == Format::NHWC);
}

void copyToHost(const Operand& tensor, const void* data, void* buffer, Format layout) {
    if (tensor.empty()) return;
    const int64_t bytes = hostBytes(tensor, layout);
    if (sameLayout(tensor, layout)) {
        std::memcpy(buffer, data, static_cast<size_t>(bytes));
        return;
    }
    const Extents e = extentsOf(tensor);
    if (layout == Format::NC4HW4) std::memset(buffer, 0, static_cast<size_t>(bytes));
    moveAny(tensor.type, e, data, storageOf(tensor, e), buffer, layoutOf(tensor, layout, e));
}

void copyFromHost(const Operand& tensor, void* data, const void* buffer, Format layout) {
    if (tensor.empty()) return;
    if (sameLayout(tensor, layout)) {
        std::memcpy(data, buffer, static_cast<size_t>(hostBytes(tensor, layout)));
        return;
    }
    const Extents e = extentsOf(tensor);
    moveAny(tensor.type, e, buffer, layoutOf(tensor, layout, e), data, storageOf(tensor, e));
}

}  // namespace mnnc
