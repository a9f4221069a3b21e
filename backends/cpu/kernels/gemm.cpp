// Matrix products: splitting into tasks, A as bf16 or transposed, and batches.
#include "backends/cpu/kernels/gemm.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/gemm_panels.h"

namespace mnnc {
namespace {

constexpr ptrdiff_t kNoOffset[1] = {0};
constexpr long kMinRows = 36;  // of a chunk: fewer would leave tiles of products half empty

struct Product {
    const Kernels& k;
    int M, N, K;
    size_t ldc;
    float* c;
    const void* packedB;
    const PostOps& post;
    GemmPanels panels{k, N};
};

void product(const Kernels& k, const PanelArgs& t) {
    k.panels->panel(t);
}
void product(const Kernels& k, const Bf16PanelArgs& t) {
    k.bf16->panel(t);
}

// Rows m0..m1 of C, of panel i; a begins with row m0.
template <typename T>
void runPanel(const Product& g, const T* a, size_t lda, int i, int m0, int m1) {
    const OutPanel p = g.panels[i];
    const int P = g.k.lanes, n0 = p.block * P;
    const int real = std::min(p.nb * P, g.N - n0);
    alignas(64) float bias[4 * 16] = {};
    if (g.post.bias) std::memcpy(bias, g.post.bias + n0, real * sizeof(float));
    const int rows = gemmPackedRows(sizeof(T) == 2 ? GemmType::Bf16 : GemmType::Float, g.K);
    PanelArgsOf<T> t;
    t.a = a;
    t.pixelStride = static_cast<ptrdiff_t>(lda);
    t.tapOffset = kNoOffset;
    t.taps = 1;
    t.fullBlocks = g.K / P;
    t.blockStride = P;
    t.tail = g.K % P;
    t.w = static_cast<const T*>(g.packedB) + size_t(n0) * rows;
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
    product(g.k, t);
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

size_t roundUp(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

// How tasks share rows of A and panels of B. One thread walks the panels of a chunk in order; several share
// them out.
struct RowSplit {
    int rows, chunks, groups;
};
RowSplit splitRows(const Kernels& k, const GemmPanels& cut, GemmType type, int M, int N, int K, int threads) {
    const long rowBytes = std::max(1, K) * (type == GemmType::Bf16 ? 2L : 4L);
    const long cacheRows = std::max(kMinRows, static_cast<long>(k.costs->cache.gemmInput / rowBytes));
    const int panels = cut.count();
    const Split split = splitGemm(
        {M, cacheRows, panels, double(M), double(K) * N / panels, k.costs->task.f32, k.costs->task.fetch},
        threads);
    const int rows = (M + split.chunks - 1) / split.chunks;
    return {rows, (M + rows - 1) / rows, split.groups};
}

// A as bf16: rows of whole fours, an odd number of cache lines apart, so that the rows of a tile do not meet
// in one set of the first level cache.
size_t stripRow(int K) {
    return ((size_t(K) / 32 + 1) | 1) * 32;
}

void fillStrip(const Kernels& k, const float* a, size_t lda, int M, int K, uint16_t* strip) {
    for (int m = 0; m < M; ++m, strip += stripRow(K)) {
        k.bf16->convert(a + m * lda, K, strip);
        std::fill(strip + K, strip + K / 4 * 4 + 4, uint16_t{0});
    }
}

size_t stripBytes(int M, int K) {
    return roundUp(M * stripRow(K) * sizeof(uint16_t));
}

size_t flatBytes(int M, int K, bool transA) {
    return transA ? roundUp(size_t(M) * K * sizeof(float)) : 0;
}

}  // namespace

size_t gemmScratchBytes(const Kernels& k, const GemmArgs& args, int threads) {
    if (args.M <= 0 || args.N <= 0) return 64;
    const GemmPanels panels(k, args.N);
    size_t strips = 64;
    for (int t = 1; args.type == GemmType::Bf16 && t <= std::max(1, threads); ++t) {
        const RowSplit split = splitRows(k, panels, args.type, args.M, args.N, args.K, t);
        strips =
            std::max(strips, split.groups > 1 ? stripBytes(args.M, args.K)
                                              : stripBytes(split.rows, args.K) * std::min(t, split.chunks));
    }
    return flatBytes(args.M, args.K, args.transA) + strips;
}

namespace {

void gemmFloat(const Product& g, const RowSplit& split, const float* a, size_t lda, bool backwards,
               ThreadPool& pool) {
    const int panels = g.panels.count();
    parallelFor(pool, split.chunks * split.groups, [&](int task) {
        const int chunk = task / split.groups, group = task % split.groups;
        const int m0 = chunk * split.rows, m1 = std::min(g.M, m0 + split.rows);
        const int first = panels * group / split.groups, end = panels * (group + 1) / split.groups;
        for (int i = first; i < end; ++i)
            runPanel(g, a + m0 * lda, lda, backwards ? first + end - 1 - i : i, m0, m1);
    });
}

void gemmBf16(const Product& g, const RowSplit& split, const float* a, size_t lda, uint16_t* strips,
              ThreadPool& pool) {
    const int panels = g.panels.count();
    const size_t row = stripRow(g.K);
    if (split.groups > 1) {
        parallelRanges(pool, g.M, 4 * pool.threads(), [&](long begin, long end) {
            fillStrip(g.k, a + begin * lda, lda, static_cast<int>(end - begin), g.K, strips + begin * row);
        });
        parallelFor(pool, split.chunks * split.groups, [&](int task) {
            const int chunk = task / split.groups, group = task % split.groups;
            const int m0 = chunk * split.rows, m1 = std::min(g.M, m0 + split.rows);
            for (int i = panels * group / split.groups; i < panels * (group + 1) / split.groups; ++i)
                runPanel(g, strips + m0 * row, row, i, m0, m1);
        });
        return;
    }
    const size_t slot = stripBytes(split.rows, g.K) / sizeof(uint16_t);
    parallelSlots(pool, split.chunks, [&](int thread, int chunk) {
        uint16_t* strip = strips + thread * slot;
        const int m0 = chunk * split.rows, m1 = std::min(g.M, m0 + split.rows);
        fillStrip(g.k, a + m0 * lda, lda, m1 - m0, g.K, strip);
        for (int i = 0; i < panels; ++i) runPanel(g, strip, row, i, m0, m1);
    });
}

}  // namespace

void gemm(const Kernels& k, const GemmArgs& args, ThreadPool& pool) {
    if (args.M <= 0 || args.N <= 0) return;
    const Product g{k, args.M, args.N, args.K, args.ldc, args.c, args.packedB, args.post};
    const float* a = args.a;
    size_t lda = args.lda;
    if (args.transA) {
        float* flat = static_cast<float*>(args.scratch);
        const int pieces = std::min(args.M, 4 * pool.threads());
        parallelFor(pool, pieces, [&](int i) {
            const int m0 = static_cast<int>(long(args.M) * i / pieces),
                      m1 = static_cast<int>(long(args.M) * (i + 1) / pieces);
            transposeInto(args.a + m0, args.lda, m1 - m0, args.K, flat + size_t(m0) * args.K);
        });
        a = flat;
        lda = args.K;
    }
    const RowSplit split = splitRows(k, g.panels, args.type, args.M, args.N, args.K, pool.threads());
    if (args.type == GemmType::Bf16) {
        char* strips = static_cast<char*>(args.scratch) + flatBytes(args.M, args.K, args.transA);
        gemmBf16(g, split, a, lda, reinterpret_cast<uint16_t*>(strips), pool);
    } else {
        gemmFloat(g, split, a, lda, args.backwards, pool);
    }
    if (args.rowBias) {
        for (int m = 0; m < args.M; ++m) {
            for (int n = 0; n < args.N; ++n) args.c[m * args.ldc + n] += args.rowBias[m];
        }
    }
}

size_t gemmOnThreadScratchBytes(GemmType type, int M, int K) {
    return type == GemmType::Bf16 ? stripBytes(M, K) : 0;
}

void gemmOnThread(const Kernels& k, const GemmArgs& args) {
    if (args.M <= 0 || args.N <= 0) return;
    const Product g{k, args.M, args.N, args.K, args.ldc, args.c, args.packedB, args.post};
    auto* strip = static_cast<uint16_t*>(args.scratch);
    if (args.type == GemmType::Bf16) fillStrip(k, args.a, args.lda, args.M, args.K, strip);
    for (int i = 0; i < g.panels.count(); ++i) {
        if (args.type == GemmType::Bf16)
            runPanel(g, strip, stripRow(args.K), i, 0, args.M);
        else
            runPanel(g, args.a, args.lda, i, 0, args.M);
    }
}

namespace {
size_t packedBytes(const Kernels& k, const BatchedGemmArgs& a) {
    return roundUp(gemmPackedBytes(k, a.type, a.N, a.K));
}
size_t slotBytes(const Kernels& k, const BatchedGemmArgs& a) {
    return packedBytes(k, a) + flatBytes(a.M, a.K, a.transA) +
           (a.type == GemmType::Bf16 ? stripBytes(a.M, a.K) : 0);
}
}  // namespace

size_t batchedGemmScratchBytes(const Kernels& k, const BatchedGemmArgs& args, int threads) {
    return slotBytes(k, args) * std::max(1, threads);
}

void batchedGemm(const Kernels& k, const BatchedGemmArgs& args, ThreadPool& pool) {
    if (args.M <= 0 || args.N <= 0 || args.count <= 0) return;
    const size_t slot = slotBytes(k, args);
    const GemmPanels panels(k, args.N);
    const int threads = pool.threads();
    const auto offset = [](const size_t* offsets, size_t step, int i) {
        return offsets ? offsets[i] : step * i;
    };
    const auto one = [&](int i, char* packed, ThreadPool* inside) {
        const float* b = args.b + offset(args.bOffsets, args.bStep, i);
        const float* a = args.a + offset(args.aOffsets, args.aStep, i);
        size_t lda = args.lda;
        const Product g{k,      args.M,    args.N,
                        args.K, args.ldc,  args.c + offset(args.cOffsets, args.cStep, i),
                        packed, args.post, panels};
        char* rest = packed + packedBytes(k, args);
        if (args.transA) {
            float* flat = reinterpret_cast<float*>(rest);
            transposeInto(a, args.lda, args.M, args.K, flat);
            a = flat;
            lda = args.K;
            rest += flatBytes(args.M, args.K, true);
        }
        auto* strip = reinterpret_cast<uint16_t*>(rest);
        if (args.type == GemmType::Bf16) fillStrip(k, a, lda, args.M, args.K, strip);
        const auto panel = [&](int p) {
            gemmPackPanel(k, args.type, args.N, args.K, b, args.ldb, args.transB, panels[p], packed);
            if (args.type == GemmType::Bf16)
                runPanel(g, strip, stripRow(args.K), p, 0, args.M);
            else
                runPanel(g, a, lda, p, 0, args.M);
        };
        if (inside) {
            parallelFor(*inside, panels.count(), panel);
        } else {
            for (int p = 0; p < panels.count(); ++p) panel(p);
        }
    };
    char* scratch = static_cast<char*>(args.scratch);
    if (threads == 1 || args.count < 2 * threads) {
        for (int i = 0; i < args.count; ++i) one(i, scratch, threads == 1 ? nullptr : &pool);
        return;
    }
    parallelSlots(pool, args.count, [&](int s, int i) { one(i, scratch + slot * s, nullptr); });
}

}  // namespace mnnc
