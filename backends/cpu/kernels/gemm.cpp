#include "backends/cpu/kernels/gemm.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "backends/cpu/kernels/pack.h"
#include "backends/cpu/kernels/panels.h"

namespace mnnc {
namespace {

constexpr ptrdiff_t kNoOffset[1] = {0};

int blocksOf(int n, int lanes) {
    return (n + lanes - 1) / lanes;
}

// The packing must not depend on M: a constant B serves every batch size.
int gemmPanelBlocks(const Kernels& k, int N) {
    return bestPanelBlocks(*k.panels, 8 * 9, blocksOf(N, k.lanes));
}

int panelCount(const Kernels& k, int N) {
    const int nb = gemmPanelBlocks(k, N);
    return (blocksOf(N, k.lanes) + nb - 1) / nb;
}

OutPanel panelAt(const Kernels& k, int N, int i) {
    const int panels = panelCount(k, N), blocks = blocksOf(N, k.lanes);
    const int from = static_cast<int>(static_cast<long>(blocks) * i / panels);
    return {from, static_cast<int>(static_cast<long>(blocks) * (i + 1) / panels) - from};
}

void packPanel(const Kernels& k, int N, int K, const float* b, size_t ldb, bool transB, OutPanel p,
               float* packed) {
    const int P = k.lanes, width = p.nb * P, n0 = p.block * P, real = std::min(width, N - n0);
    float* out = packed + size_t(p.block) * P * K;
    if (!transB) {
        for (int kk = 0; kk < K; ++kk, out += width) {
            std::memcpy(out, b + kk * ldb + n0, real * sizeof(float));
            std::fill(out + real, out + width, 0.0f);
        }
        return;
    }
    // Row panels of B^T are exactly what rowsToBlock makes, one block of P at a time; it writes P apart, we
    // need width.
    constexpr int kChunk = 64;
    alignas(64) float block[kChunk * 16];
    for (int j = 0; j < p.nb; ++j) {
        const int lanes = std::min(P, N - n0 - j * P);
        const float* rows = b + size_t(n0 + j * P) * ldb;
        for (int kk = 0; kk < K; kk += kChunk) {
            const int n = std::min(kChunk, K - kk);
            k.pack->rowsToBlock(rows + kk, ldb, lanes, n, block);
            for (int i = 0; i < n; ++i) {
                std::memcpy(out + size_t(kk + i) * width + j * P, block + i * P, P * sizeof(float));
            }
        }
    }
}

struct Product {
    const Kernels& k;
    int M, N, K;
    const float* a;
    size_t lda;
    const float* packedB;
    float* c;
    size_t ldc;
    const PostOps& post;
};

void runPanel(const Product& g, OutPanel p, int m0, int m1) {
    const int P = g.k.lanes, n0 = p.block * P;
    const int real = std::min(p.nb * P, g.N - n0);
    alignas(64) float bias[4 * 16] = {};
    if (g.post.bias) std::memcpy(bias, g.post.bias + n0, real * sizeof(float));
    PanelArgs t;
    t.a = g.a + m0 * g.lda;
    t.pixelStride = static_cast<ptrdiff_t>(g.lda);
    t.tapOffset = kNoOffset;
    t.taps = 1;
    t.fullBlocks = g.K / P;
    t.blockStride = P;
    t.tail = g.K % P;
    t.w = g.packedB + size_t(n0) * g.K;
    t.dst = g.c + m0 * g.ldc + n0;
    t.dstPixelStride = static_cast<ptrdiff_t>(g.ldc);
    t.dstBlockStride = P;
    t.residual = g.post.residual ? g.post.residual + m0 * g.ldc + n0 : nullptr;
    t.bias = bias;
    t.lo = g.post.lo;
    t.hi = g.post.hi;
    t.act = g.post.act;
    t.nb = p.nb;
    t.m = m1 - m0;
    t.lastLanes = real - (p.nb - 1) * P;
    g.k.panels->panel(t);
}

// Rows of A that stay in the second level cache while the panels pass by.
int rowChunk(int M, int K) {
    const long rows = std::max(36L, (384L << 10) / (std::max(1, K) * 4L));
    const int chunks = static_cast<int>((M + rows - 1) / rows);
    return (M + chunks - 1) / chunks;
}

void transposeInto(const float* a, size_t lda, int M, int K, float* out) {
    constexpr int kTile = 16;
    for (int k0 = 0; k0 < K; k0 += kTile) {
        const int k1 = std::min(K, k0 + kTile);
        for (int m = 0; m < M; ++m) {
            for (int k = k0; k < k1; ++k) out[size_t(m) * K + k] = a[k * lda + m];
        }
    }
}

size_t roundUp(size_t floats) {
    return (floats + 15) / 16 * 16;
}

}  // namespace

size_t gemmPackedFloats(const Kernels& k, int N, int K) {
    return size_t(blocksOf(N, k.lanes)) * k.lanes * K;
}

void gemmPackB(const Kernels& k, int N, int K, const float* b, size_t ldb, bool transB, float* packed,
               ThreadPool& pool) {
    if (N <= 0 || K <= 0) return;
    parallelFor(pool, panelCount(k, N),
                [&](int i) { packPanel(k, N, K, b, ldb, transB, panelAt(k, N, i), packed); });
}

size_t gemmScratchBytes(int M, int K, bool transA) {
    return transA ? roundUp(size_t(M) * K) * sizeof(float) : 64;
}

void gemm(const Kernels& k, const GemmArgs& args, ThreadPool& pool) {
    if (args.M <= 0 || args.N <= 0) return;
    Product g{k, args.M, args.N, args.K, args.a, args.lda, args.packedB, args.c, args.ldc, args.post};
    if (args.transA) {
        float* flat = static_cast<float*>(args.scratch);
        const int pieces = std::min(args.M, 4 * pool.threads());
        parallelFor(pool, pieces, [&](int i) {
            const int m0 = static_cast<int>(long(args.M) * i / pieces),
                      m1 = static_cast<int>(long(args.M) * (i + 1) / pieces);
            transposeInto(args.a + m0, args.lda, m1 - m0, args.K, flat + size_t(m0) * args.K);
        });
        g.a = flat;
        g.lda = args.K;
    }
    const int panels = panelCount(k, args.N);
    const int rows = rowChunk(args.M, args.K);
    const int chunks = (args.M + rows - 1) / rows;
    // One thread walks the panels of a chunk in order; several share them out.
    const int threads = pool.threads();
    const int groups = threads == 1 ? 1 : std::clamp((4 * threads + chunks - 1) / chunks, 1, panels);
    parallelFor(pool, chunks * groups, [&](int task) {
        const int chunk = task / groups, group = task % groups;
        const int m0 = chunk * rows, m1 = std::min(args.M, m0 + rows);
        for (int i = panels * group / groups; i < panels * (group + 1) / groups; ++i) {
            runPanel(g, panelAt(k, args.N, i), m0, m1);
        }
    });
    if (args.rowBias) {
        for (int m = 0; m < args.M; ++m) {
            for (int n = 0; n < args.N; ++n) args.c[m * args.ldc + n] += args.rowBias[m];
        }
    }
}

namespace {
size_t slotFloats(const Kernels& k, const BatchedGemmArgs& a) {
    return roundUp(gemmPackedFloats(k, a.N, a.K)) + (a.transA ? roundUp(size_t(a.M) * a.K) : 0);
}
}  // namespace

size_t batchedGemmScratchBytes(const Kernels& k, const BatchedGemmArgs& args, int threads) {
    return slotFloats(k, args) * sizeof(float) * std::max(1, threads);
}

void batchedGemm(const Kernels& k, const BatchedGemmArgs& args, ThreadPool& pool) {
    if (args.M <= 0 || args.N <= 0 || args.count <= 0) return;
    const size_t slot = slotFloats(k, args);
    const int panels = panelCount(k, args.N), threads = pool.threads();
    const auto offset = [](const size_t* offsets, size_t step, int i) {
        return offsets ? offsets[i] : step * i;
    };
    const auto one = [&](int i, float* packed, ThreadPool* inside) {
        const float* b = args.b + offset(args.bOffsets, args.bStep, i);
        const float* a = args.a + offset(args.aOffsets, args.aStep, i);
        Product g{k,        args.M,   args.N, args.K,
                  a,        args.lda, packed, args.c + offset(args.cOffsets, args.cStep, i),
                  args.ldc, args.post};
        if (args.transA) {
            float* flat = packed + roundUp(gemmPackedFloats(k, args.N, args.K));
            transposeInto(a, args.lda, args.M, args.K, flat);
            g.a = flat;
            g.lda = args.K;
        }
        const auto panel = [&](int p) {
            const OutPanel at = panelAt(k, args.N, p);
            packPanel(k, args.N, args.K, b, args.ldb, args.transB, at, packed);
            runPanel(g, at, 0, args.M);
        };
        if (inside) {
            parallelFor(*inside, panels, panel);
        } else {
            for (int p = 0; p < panels; ++p) panel(p);
        }
    };
    float* scratch = static_cast<float*>(args.scratch);
    if (threads == 1 || args.count < 2 * threads) {
        for (int i = 0; i < args.count; ++i) one(i, scratch, threads == 1 ? nullptr : &pool);
        return;
    }
    std::atomic<int> next{0};
    parallelFor(pool, threads, [&](int s) {
        for (int i; (i = next.fetch_add(1, std::memory_order_relaxed)) < args.count;)
            one(i, scratch + slot * s, nullptr);
    });
}

}  // namespace mnnc
