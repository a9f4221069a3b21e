// Walks a float tensor in pieces that share their channel, in any storage: for PReLU and Scale.
#pragma once
#include "backends/cpu/ops/split.h"
#include "ops/channel_axis.h"

namespace mnnc::cpu {

// Calls one of
//   lanes(offset, count, c): `count` floats at `offset` repeat the channels c .. c + channelBlock - 1;
//   each(offset, count):     `count` floats, one per channel from 0;
//   row(offset, count, c):   `count` floats of channel c.
template <typename Lanes, typename Each, typename Row>
void forChannels(ThreadPool& pool, const Operand& tensor, Lanes&& lanes, Each&& each, Row&& row) {
    if (tensor.empty()) return;
    const int axis = channelAxis(tensor);
    const int rank = tensor.shape.rank();
    const int64_t channels = tensor.shape[axis], outer = tensor.shape.elements(0, axis);
    const int64_t inner = tensor.shape.elements(axis + 1, rank);
    if (tensor.channelBlock > 1) {
        const int64_t channelBlock = tensor.channelBlock, blocks = ceilDiv(channels, channelBlock),
                      size = inner * channelBlock;
        if (storageByPixels(tensor))
            return forPlaneRows(pool, outer * blocks, inner, true, [&](int64_t r, int64_t begin, int64_t end) {
                lanes(r * size + begin * channelBlock, (end - begin) * channelBlock, r % blocks * channelBlock);
            });
        forRows(pool, outer * blocks, size, [&](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r) lanes(r * size, size, r % blocks * channelBlock);
        });
    } else if (inner == 1) {
        forRows(pool, outer, channels, [&](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r) each(r * channels, channels);
        });
    } else {
        forRows(pool, outer * channels, inner, [&](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r) row(r * inner, inner, r % channels);
        });
    }
}

}  // namespace mnnc::cpu
