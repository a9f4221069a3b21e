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

// Reads the quantised weights of n panels of output channels and calls body(i, weights, first) for each: `weights` are
// those of channel `first` and of some behind it. Panel i ends before channel end(i). read(first, count) returns the
// weights of some channels, each of which takes about `bytes` bytes. It reads as many panels at a time as stay in the
// second level cache.
template <typename Read, typename End, typename Body>
void packPartsInChunks(const Kernels& k, ThreadPool& pool, int n, size_t bytes, Read&& read, End&& end, Body&& body) {
    const int64_t maxChannels = k.costs->cache.packedChunk / static_cast<int64_t>(bytes);
    for (int from = 0, first = 0; from < n;) {
        int to = from + 1;
        while (to < n && (to - from < pool.threads() || end(to) - first <= maxChannels)) ++to;
        const auto weights = read(first, end(to - 1) - first);
        parallelFor(pool, to - from, [&](int i) { body(from + i, weights, first); });
        from = to;
        first = end(to - 1);
    }
}

// Quantised weights that are in memory.
class HeldQuantizedWeights final : public QuantizedWeightReader {
  public:
    HeldQuantizedWeights(const QuantizedWeightsView& all, int outputs)
        : all_(all),
          perOutput_(all.codes.size() / static_cast<size_t>(outputs)),
          blocks_(all.scales.size() / static_cast<size_t>(outputs)) {}

    QuantizedWeightsView read(int first, int count) override {
        const auto part = [&](auto values, size_t each) {
            return values.empty()
                       ? values
                       : values.subspan(static_cast<size_t>(first) * each, static_cast<size_t>(count) * each);
        };
        return {part(all_.codes, perOutput_), part(all_.scales, blocks_), part(all_.minima, blocks_)};
    }
    StoredWeightsView readStored(int first, int count, int bits) override {
        const QuantizedWeightsView part = read(first, count);
        stored_.clear();
        const auto code = [&](size_t i) { return static_cast<uint8_t>(part.codes[i] + (1 << (bits - 1))); };
        const size_t step = bits == 8 ? 1 : 2;
        for (size_t i = 0; i + step <= part.codes.size(); i += step)
            stored_.push_back(bits == 8 ? code(i) : static_cast<uint8_t>(code(i) << 4 | (code(i + 1) & 15)));
        return {stored_.data(), part.scales, part.minima};
    }

  private:
    const QuantizedWeightsView all_;
    const size_t perOutput_, blocks_;
    std::vector<uint8_t> stored_;
};

// Copies the values of the channels with zeros behind them, because kernels read whole blocks. Null stands for zeros.
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
