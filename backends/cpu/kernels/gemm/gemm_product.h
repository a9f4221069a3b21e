// Code that single and batched matrix products share: slices of sums, the arguments of a panel, A as bf16 or
// transposed.
#pragma once
#include <algorithm>
#include <cstring>
#include <limits>

#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/gemm/gemm_panels.h"
#include "backends/cpu/kernels/pack.h"

namespace mnnc {

struct Product {
    const Kernels& k;
    int M, N, K;
    size_t ldc;
    float* c;
    const PostOps& post;
    GemmPanels panels{k, N};
    bool far = int64_t{M} * N * int64_t{sizeof(float)} > k.costs->cache.nearResult;  // C does not stay in the cache
};

// Returns how many terms are summed up at a time: all of them, unless the rows of a full tile would not stay in the
// cache while the panels pass by. A slice stores its sums, and the next slice adds to them.
inline int gemmSliceTerms(const Kernels& k, GemmType type, int M, int K) {
    const int64_t rowBytes = int64_t{K} * int64_t{sizeof(float)}, cache = k.costs->cache.gemmInput;
    if (type == GemmType::Bf16 || M * rowBytes <= cache) return K;
    const auto slices = static_cast<int>((kUsualPixels * rowBytes + cache - 1) / cache);
    return std::min(K, ceilDiv(ceilDiv(K, std::max(slices, 1)), k.lanes) * k.lanes);
}

// A part of a panel's sums: rows m0..m1 and terms k0..k1; `pair`: of this panel's and of the next one's.
struct PanelPart {
    int panel, m0, m1, k0, k1;
    bool pair = false;
};

// Returns whether two panels, one behind the other, are multiplied by a single row together.
inline bool takesPair(const Product& g, int one, int other) {
    return g.M == 1 && g.panels.width(one) == g.panels.width(other);
}

inline void product(const Kernels& k, const PanelArgs& t) {
    k.panels->panel(t);
}
inline void product(const Kernels& k, const Bf16PanelArgs& t) {
    k.bf16->panel(t);
}

// Computes a part of a panel. `a` is row m0 of A with all its terms; `weights` are the terms k0..k1 of the panel;
// `next` are the weights to prefetch (null: those behind `weights`). The first part of a sum adds the residual, the
// last part does the rest of the epilogue.
template <typename T>
void runPanel(const Product& g, const PanelPart& part, const T* a, size_t lda, const T* weights,
              const T* next = nullptr) {
    static constexpr ptrdiff_t kNoOffset[1] = {0};
    const OutPanel p = g.panels[part.panel];
    const int P = g.k.lanes, n0 = p.block * P, terms = part.k1 - part.k0, blocks = part.pair ? 2 * p.nb : p.nb;
    const int real = std::min(blocks * P, g.N - n0);
    const bool first = part.k0 == 0, last = part.k1 == g.K;
    alignas(64) float bias[2 * 4 * 16] = {};
    if (g.post.bias && first) std::memcpy(bias, g.post.bias + n0, real * sizeof(float));
    PanelArgsOf<T> t;
    t.a = a + part.k0;
    t.pixelStride = static_cast<ptrdiff_t>(lda);
    t.tapOffset = kNoOffset;
    t.taps = 1;
    t.fullBlocks = terms / P;
    t.blockStride = P;
    t.tail = terms % P;
    t.w = weights;
    t.next = next;
    t.dst = g.c + part.m0 * g.ldc + n0;
    t.dstPixelStride = static_cast<ptrdiff_t>(g.ldc);
    t.dstBlockStride = P;
    t.residual = !first ? t.dst : g.post.residual ? g.post.residual + part.m0 * g.ldc + n0 : nullptr;
    t.bias = bias;
    t.lo = last ? g.post.lo : -std::numeric_limits<float>::infinity();
    t.hi = last ? g.post.hi : std::numeric_limits<float>::infinity();
    t.act = last ? g.post.act : Act::None;
    t.nb = p.nb;
    t.m = part.m1 - part.m0;
    t.lastLanes = real - (blocks - 1) * P;
    t.pair = part.pair;
    t.fetchDst = g.far;
    product(g.k, t);
}

// A transposed A is made row-major, in rows of whole cache lines.
inline size_t flatRow(int K) {
    return roundUpFloats(static_cast<size_t>(K));
}
inline size_t flatBytes(int M, int K, bool transA) {
    return transA ? M * flatRow(K) * sizeof(float) : 0;
}
// Copies M rows from the same columns of `a`.
inline void transposeInto(const Kernels& k, const float* a, size_t lda, int M, int K, float* out) {
    constexpr int kColumns = 64;  // at a time: with more, too many pages would be written in turn
    for (int m = 0; m < M; m += kColumns)
        for (int term = 0; term < K; term += k.lanes)
            k.pack->rowsToPanel(a + term * lda + m, lda, std::min(k.lanes, K - term), std::min(kColumns, M - m),
                                out + m * flatRow(K) + term, flatRow(K));
}

// Returns the row length of A as bf16: whole fours, and an odd number of cache lines, so that the rows of a tile do not
// share one set of the first level cache.
inline size_t stripRow(int K) {
    return ((size_t(K) / 32 + 1) | 1) * 32;
}
inline size_t stripBytes(int M, int K) {
    return wholeLines(M * stripRow(K) * sizeof(uint16_t));
}
inline void fillStrip(const Kernels& k, const float* a, size_t lda, int M, int K, uint16_t* strip) {
    for (int m = 0; m < M; ++m, strip += stripRow(K)) {
        k.bf16->convert(a + m * lda, K, strip);
        std::fill(strip + K, strip + K / 4 * 4 + 4, uint16_t{0});
    }
}

}  // namespace mnnc
