// Helpers of convolution plans: reading weights in chunks, padding values per channel, arguments of depthwise kernels.
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/conv_plan.h"
#include "backends/cpu/kernels/cpu_costs.h"

namespace mnnc {

// Calls body(i, its weights) for n pieces whose weights are contiguous; piece i ends at end(i). It reads as many pieces
// at a time as stay in the second level cache.
template <typename End, typename Body>
void packInChunks(const Kernels& k, ThreadPool& pool, int n, const WeightReader& weights, End&& end, Body&& body) {
    const size_t chunk = static_cast<size_t>(k.costs->cache.packedChunk) / sizeof(float);
    for (int from = 0; from < n;) {
        const auto beginOf = [&](int i) { return i == 0 ? size_t{0} : end(i - 1); };
        const size_t first = beginOf(from);
        int to = from + 1;
        while (to < n && (to - from < pool.threads() || end(to) - first <= chunk)) ++to;
        const float* read = weights(first, end(to - 1) - first);
        parallelFor(pool, to - from, [&](int i) { body(from + i, read + (beginOf(from + i) - first)); });
        from = to;
    }
}

// Copies the values of the channels with zeros behind them, because kernels read whole blocks. Null: zeros alone.
inline void padChannels(const float* values, int channels, int padded, float* out) {
    if (values) {
        std::memcpy(out, values, channels * sizeof(float));
    } else {
        std::fill(out, out + channels, 0.0f);
    }
    std::fill(out + channels, out + padded, 0.0f);
}

// Returns a bias as PostOps of a convolution need it, padded for every width of vectors.
inline std::vector<float> paddedBias(const float* values, int channels) {
    std::vector<float> out(static_cast<size_t>(ceilDiv(channels, kMaxLanes) * kMaxLanes));
    padChannels(values, channels, static_cast<int>(out.size()), out.data());
    return out;
}

// Returns the arguments of output block `block` of a depthwise convolution, except source and destination. `packed`
// comes from the depthwise plan.
inline DepthwiseArgs depthwiseArgs(const ConvShape& shape, int lanes, const void* packed, const PostOps& post,
                                   int block) {
    DepthwiseArgs t{};
    t.w = static_cast<const float*>(packed) + size_t(block) * lanes * shape.kh * shape.kw;
    t.bias = post.bias + block * lanes;
    t.shape = &shape;
    t.lo = post.lo;
    t.hi = post.hi;
    t.act = post.act;
    return t;
}

}  // namespace mnnc
