// The plans that makeConvPlan chooses from, and what they share.
#pragma once
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/conv.h"
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/panels.h"

namespace mnnc {

// Some channels of some pixels of a convolution's output, at a time and a place of the caller's choice.
class TileableConv {
  public:
    virtual ~TileableConv() = default;
    virtual int panelCount() const = 0;
    virtual OutPanel panel(int i) const = 0;
    virtual size_t expandedBytes() const = 0;  // what weightsOf() needs
    // The weights of panel i: the packed ones, or in `expanded` what they are codes of.
    virtual const float* weightsOf(const void* packed, int i, void* expanded) const = 0;
    // Pixels begin .. end of panel i; its blocks lie dstBlock floats apart. `bias` is that of all blocks.
    virtual void runPixels(const float* image, const float* weights, int i, int begin, int end, float* dst,
                           ptrdiff_t dstBlock, const float* bias, const PostOps& post) const = 0;
};

// The arguments of output block `block` but for where it reads and writes, from what DepthwisePlan packed.
inline DepthwiseArgs depthwiseArgs(const ConvShape& shape, int lanes, const void* packed, const float* bias,
                                   const PostOps& post, int block) {
    DepthwiseArgs t{};
    t.w = static_cast<const float*>(packed) + size_t(block) * lanes * shape.kh * shape.kw;
    t.bias = bias + block * lanes;
    t.shape = &shape;
    t.lo = post.lo;
    t.hi = post.hi;
    t.act = post.act;
    return t;
}

// options.bf16 of these means it: the kernels have such products. Not for first layers and groups.
// Everything that is taps x channels products: 1x1, direct, grouped, first layer, transposed.
std::unique_ptr<ConvPlan> makeGemmConvPlan(const Kernels& k, const ConvShape& shape,
                                           const ConvOptions& options);
// The same for int8 codes with one scale per output channel, of which products are made as they are. Without
// groups; k.w8a16 must be there.
std::unique_ptr<ConvPlan> makeW8A16Plan(const Kernels& k, const ConvShape& shape, const ConvOptions& options);
std::unique_ptr<ConvPlan> makeDepthwisePlan(const Kernels& k, const ConvShape& shape, bool transposed);
// F(unit x unit, 3x3), unit 2, 4 or 6.
std::unique_ptr<ConvPlan> makeWinogradPlan(const Kernels& k, const ConvShape& shape, int unit,
                                           const ConvOptions& options);

// body(i, its weights) for n pieces whose weights lie one after the other and end at end(i), some at a time: so many
// that they stay in the second level cache.
template <typename End, typename Body>
void packInChunks(ThreadPool& pool, int n, const ConvPlan::WeightReader& weights, End&& end, Body&& body) {
    constexpr size_t kStretch = (size_t{512} << 10) / sizeof(float);
    for (int from = 0; from < n;) {
        const auto beginOf = [&](int i) { return i == 0 ? size_t{0} : end(i - 1); };
        const size_t first = beginOf(from);
        int to = from + 1;
        while (to < n && (to - from < pool.threads() || end(to) - first <= kStretch)) ++to;
        const float* stretch = weights(first, end(to - 1) - first);
        parallelFor(pool, to - from, [&](int i) { body(from + i, stretch + (beginOf(from + i) - first)); });
        from = to;
    }
}

// Into how many chunks F(unit) cuts the tiles of an image: as many tiles at a time as the second level cache holds,
// but enough to fill the product's tiles.
int winogradChunks(const Kernels& k, const ConvShape& shape, int unit);

inline int ceilDiv(int a, int b) {
    return (a + b - 1) / b;
}
// To whole cache lines.
inline size_t roundUpFloats(size_t floats) {
    return (floats + 15) / 16 * 16;
}
// Where piece i of `pieces` equal ones begins.
inline int chunkBegin(int total, int i, int pieces) {
    return static_cast<int>(static_cast<long>(total) * i / pieces);
}
// The same where pieces shall be cut between tiles of so many, so that all tiles but the last are full.
inline int chunkBeginTiled(int total, int i, int pieces, int tile) {
    const int tiles = ceilDiv(total, tile);
    return tiles < pieces ? chunkBegin(total, i, pieces)
                          : std::min(total, chunkBegin(tiles, i, pieces) * tile);
}
inline int maxChunk(int total, int pieces, int tile) {
    int largest = 0;
    for (int i = 0; i < pieces; ++i)
        largest = std::max(
            largest, chunkBeginTiled(total, i + 1, pieces, tile) - chunkBeginTiled(total, i, pieces, tile));
    return largest;
}
// Into how many pieces to cut each of `units` so that the threads have as many tasks, or so many that one more
// or less does not matter.
inline int taskCount(int units, int maxPieces, int threads) {
    if (threads == 1) return 1;
    int pieces = std::clamp(ceilDiv(4 * threads, units), 1, maxPieces);
    while (units * pieces % threads != 0 && units * pieces < 12 * threads && pieces < maxPieces) ++pieces;
    return pieces;
}

// The bias with zeros behind it, so that kernels read whole blocks.
inline void padBias(const float* bias, int oc, int padded, float* out) {
    if (bias) {
        std::memcpy(out, bias, oc * sizeof(float));
    } else {
        std::fill(out, out + oc, 0.0f);
    }
    std::fill(out + oc, out + padded, 0.0f);
}

}  // namespace mnnc
