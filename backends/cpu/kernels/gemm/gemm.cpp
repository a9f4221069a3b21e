// Splits matrix products with a packed B into tasks.
#include "backends/cpu/kernels/gemm/gemm.h"

#include "backends/cpu/kernels/gemm/gemm_product.h"

namespace mnnc {
namespace {

constexpr int64_t kMinRows = 36;  // fewer rows of a chunk would leave tiles of products half empty

// The partition of rows of A and panels of B. One thread walks the panels of a chunk in order; several threads divide
// them.
struct RowSplit {
    int rows, chunks, groups, terms;  // terms of a slice
};
RowSplit splitRows(const Kernels& k, const GemmPanels& cut, GemmType type, int M, int N, int K, int threads) {
    const int terms = std::max(1, gemmSliceTerms(k, type, M, K));
    const int64_t rowBytes = terms * (type == GemmType::Bf16 ? int64_t{2} : int64_t{4});
    const int64_t cacheRows = std::max(kMinRows, static_cast<int64_t>(k.costs->cache.gemmInput / rowBytes));
    const int panels = cut.count();
    const Split split = splitGemm(
        {M, cacheRows, panels, double(M), double(K) * N / panels, k.costs->task.f32, k.costs->task.fetch}, threads);
    const int rows = (M + split.chunks - 1) / split.chunks;
    return {rows, (M + rows - 1) / rows, split.groups, terms};
}

// Returns the terms of panel i from k0 on.
template <typename T>
const T* packedPanel(const Product& g, const void* packed, int i, int k0 = 0) {
    constexpr GemmType type = sizeof(T) == 2 ? GemmType::Bf16 : GemmType::Float;
    const OutPanel p = g.panels[i];
    return static_cast<const T*>(gemmPanel(g.k, type, g.K, p, packed)) + size_t(k0) * p.nb * g.k.lanes;
}

}  // namespace

size_t gemmScratchBytes(const Kernels& k, const GemmArgs& args, int threads) {
    if (args.M <= 0 || args.N <= 0) return 64;
    const GemmPanels panels(k, args.N);
    size_t strips = 64;
    for (int t = 1; args.type == GemmType::Bf16 && t <= std::max(1, threads); ++t) {
        const RowSplit split = splitRows(k, panels, args.type, args.M, args.N, args.K, t);
        strips = std::max(strips, split.groups > 1 ? stripBytes(args.M, args.K)
                                                   : stripBytes(split.rows, args.K) * std::min(t, split.chunks));
    }
    return flatBytes(args.M, args.K, args.transA) + strips;
}

namespace {

void gemmFloat(const Product& g, const RowSplit& split, const float* a, size_t lda, const void* packed, bool backwards,
               ThreadPool& pool) {
    const int64_t panels = g.panels.count();
    const int slices = std::max(1, ceilDiv(g.K, split.terms));
    parallelFor(pool, split.chunks * split.groups, [&](int task) {
        const int chunk = task / split.groups, group = task % split.groups;
        const int m0 = chunk * split.rows, m1 = std::min(g.M, m0 + split.rows);
        const auto first = static_cast<int>(panels * group / split.groups);
        const auto end = static_cast<int>(panels * (group + 1) / split.groups);
        const auto panelAt = [&](int i) { return backwards ? first + end - 1 - i : i; };
        for (int slice = 0; slice < slices; ++slice) {
            const int k0 = slice * split.terms, k1 = std::min(g.K, k0 + split.terms);
            for (int i = first; i < end; ++i) {
                const bool pair = slices == 1 && i + 1 < end && takesPair(g, panelAt(i), panelAt(i + 1));
                const int panel = pair ? std::min(panelAt(i), panelAt(i + 1)) : panelAt(i);
                const float* next = nullptr;  // null: the panel behind this one is prefetched
                if (slices > 1 && (i + 1 < end || k1 < g.K))
                    next = i + 1 < end ? packedPanel<float>(g, packed, panelAt(i + 1), k0)
                                       : packedPanel<float>(g, packed, panelAt(first), k1);
                runPanel(g, {panel, m0, m1, k0, k1, pair}, a + m0 * lda, lda, packedPanel<float>(g, packed, panel, k0),
                         next);
                i += pair;
            }
        }
    });
}

void gemmBf16(const Product& g, const RowSplit& split, const float* a, size_t lda, const void* packed, uint16_t* strips,
              ThreadPool& pool) {
    const int64_t panels = g.panels.count();
    const size_t row = stripRow(g.K);
    if (split.groups > 1) {
        parallelRanges(pool, g.M, 4 * pool.threads(), [&](int64_t begin, int64_t end) {
            fillStrip(g.k, a + begin * lda, lda, static_cast<int>(end - begin), g.K, strips + begin * row);
        });
        parallelFor(pool, split.chunks * split.groups, [&](int task) {
            const int chunk = task / split.groups, group = task % split.groups;
            const int m0 = chunk * split.rows, m1 = std::min(g.M, m0 + split.rows);
            const auto first = static_cast<int>(panels * group / split.groups);
            const auto end = static_cast<int>(panels * (group + 1) / split.groups);
            for (int i = first; i < end; ++i)
                runPanel(g, {i, m0, m1, 0, g.K}, strips + m0 * row, row, packedPanel<uint16_t>(g, packed, i));
        });
        return;
    }
    const size_t slot = stripBytes(split.rows, g.K) / sizeof(uint16_t);
    parallelSlots(pool, split.chunks, [&](int thread, int chunk) {
        uint16_t* strip = strips + thread * slot;
        const int m0 = chunk * split.rows, m1 = std::min(g.M, m0 + split.rows);
        fillStrip(g.k, a + m0 * lda, lda, m1 - m0, g.K, strip);
        for (int i = 0; i < panels; ++i)
            runPanel(g, {i, m0, m1, 0, g.K}, strip, row, packedPanel<uint16_t>(g, packed, i));
    });
}

}  // namespace

void gemm(const Kernels& k, const GemmArgs& args, ThreadPool& pool) {
    if (args.M <= 0 || args.N <= 0) return;
    const Product g{k, args.M, args.N, args.K, args.ldc, args.c, args.post};
    const float* a = args.a;
    size_t lda = args.lda;
    if (args.transA) {
        float* flat = static_cast<float*>(args.scratch);
        const int pieces = std::min(args.M, 4 * pool.threads());
        parallelFor(pool, pieces, [&](int i) {
            const int m0 = static_cast<int>(int64_t(args.M) * i / pieces),
                      m1 = static_cast<int>(int64_t(args.M) * (i + 1) / pieces);
            transposeInto(k, args.a + m0, args.lda, m1 - m0, args.K, flat + m0 * flatRow(args.K));
        });
        a = flat;
        lda = flatRow(args.K);
    }
    const RowSplit split = splitRows(k, g.panels, args.type, args.M, args.N, args.K, pool.threads());
    if (args.type == GemmType::Bf16) {
        char* strips = static_cast<char*>(args.scratch) + flatBytes(args.M, args.K, args.transA);
        gemmBf16(g, split, a, lda, args.packedB, reinterpret_cast<uint16_t*>(strips), pool);
    } else {
        gemmFloat(g, split, a, lda, args.packedB, args.backwards, pool);
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
    const Product g{k, args.M, args.N, args.K, args.ldc, args.c, args.post};
    auto* strip = static_cast<uint16_t*>(args.scratch);
    if (args.type == GemmType::Bf16) fillStrip(k, args.a, args.lda, args.M, args.K, strip);
    const int panels = g.panels.count();
    for (int i = 0; i < panels; ++i) {
        const bool pair = args.type == GemmType::Float && i + 1 < panels && takesPair(g, i, i + 1);
        const PanelPart part{i, 0, args.M, 0, args.K, pair};
        if (args.type == GemmType::Bf16)
            runPanel(g, part, strip, stripRow(args.K), packedPanel<uint16_t>(g, args.packedB, i));
        else
            runPanel(g, part, args.a, args.lda, packedPanel<float>(g, args.packedB, i));
        i += pair;
    }
}

}  // namespace mnnc
