// Products with an unpacked B: a panel is packed while it is in the cache, and multiplied at once.
#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/gemm/gemm_product.h"
#include "backends/cpu/kernels/gemm/unpacked_rows.h"

namespace mnnc {
namespace {

// Returns the bytes of one packed slice of a panel. Each thread has one.
size_t panelBytes(const Kernels& k, const BatchedGemmArgs& a) {
    const int terms = gemmPackedRows(a.type, gemmSliceTerms(k, a.type, a.M, a.K));
    return wholeLines(size_t(k.panels->maxPanelBlocks) * k.lanes * terms *
                      (a.type == GemmType::Bf16 ? sizeof(uint16_t) : sizeof(float)));
}
// Returns the bytes of A in another form: transposed, or rounded to bf16.
size_t leftBytes(const BatchedGemmArgs& a) {
    return flatBytes(a.M, a.K, a.transA) + (a.type == GemmType::Bf16 ? stripBytes(a.M, a.K) : 0);
}

template <typename T>
void multiplyPart(const Product& g, const BatchedGemmArgs& args, const PanelPart& part, const T* a, size_t lda,
                  const float* b, char* panel) {
    const float* terms = b + part.k0 * (args.transB ? 1 : args.ldb);
    gemmPackPanel(g.k, args.type, g.N, part.k1 - part.k0, terms, args.ldb, args.transB, g.panels[part.panel], panel);
    const T* packed = reinterpret_cast<const T*>(panel);
    runPanel(g, part, a, lda, packed, packed);  // the next panel will be packed into the same memory
}

// Returns whether B is read in place: for few rows, packing it would take as long as the product.
bool readsUnpacked(const BatchedGemmArgs& a) {
    return a.type == GemmType::Float && !a.transA && !a.transB && a.M <= UnpackedRowsArgs::kMaxRows;
}

// Computes the columns begin .. end of a product of a few rows.
void multiplyUnpacked(const Product& g, const float* a, size_t lda, const float* b, size_t ldb, int begin, int end) {
    const bool far = int64_t{g.K} * g.N * int64_t{sizeof(float)} > g.k.costs->cache.gemmInput;
    unpackedRows(g.k.id)({a, static_cast<ptrdiff_t>(lda), b + begin, static_cast<ptrdiff_t>(ldb), g.c + begin,
                          static_cast<ptrdiff_t>(g.ldc), g.M, g.K, end - begin, far,
                          g.post.bias ? g.post.bias + begin : nullptr});
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (g.post.act == Act::None && g.post.lo == -kInfinity && g.post.hi == kInfinity) return;
    for (int m = 0; m < g.M; ++m)
        unaryKernels(g.k.id).activate(g.c + m * g.ldc + begin, static_cast<size_t>(end - begin), g.post.act, g.post.lo,
                                      g.post.hi);
}

}  // namespace

bool gemmPacksAsItGoes(const Kernels& k, const BatchedGemmArgs& args) {
    const int64_t terms = gemmSliceTerms(k, args.type, args.M, args.K);
    return args.M * terms * int64_t{sizeof(float)} <= k.costs->cache.gemmInput;
}

size_t batchedGemmScratchBytes(const Kernels& k, const BatchedGemmArgs& args, int threads) {
    return (panelBytes(k, args) + leftBytes(args)) * std::max(1, threads);
}

void batchedGemm(const Kernels& k, const BatchedGemmArgs& args, ThreadPool& pool) {
    if (args.M <= 0 || args.N <= 0 || args.count <= 0) return;
    const size_t panel = panelBytes(k, args), left = leftBytes(args);
    const GemmPanels panels(k, args.N);
    const int threads = pool.threads(), terms = std::max(1, gemmSliceTerms(k, args.type, args.M, args.K));
    char* const scratch = static_cast<char*>(args.scratch);
    const auto offset = [](const size_t* offsets, size_t step, int i) { return offsets ? offsets[i] : step * i; };
    // Computes product i, with memory for A and for panels. The threads of `inside` divide the panels.
    const auto one = [&](int i, char* memory, char* packed, ThreadPool* inside) {
        const float* b = args.b + offset(args.bOffsets, args.bStep, i);
        const float* a = args.a + offset(args.aOffsets, args.aStep, i);
        size_t lda = args.lda;
        const Product g{k,         args.M, args.N, args.K, args.ldc, args.c + offset(args.cOffsets, args.cStep, i),
                        args.post, panels};
        if (readsUnpacked(args)) {
            const auto columns = [&](int from, int to) {
                multiplyUnpacked(g, a, lda, b, args.ldb, from * k.lanes, std::min(to * k.lanes, args.N));
            };
            const int blocks = ceilDiv(args.N, k.lanes);
            if (!inside) return columns(0, blocks);
            return parallelFor(*inside, panels.count(),
                               [&](int p) { columns(panels[p].block, panels[p].block + panels.width(p)); });
        }
        if (args.transA) {
            float* flat = reinterpret_cast<float*>(memory);
            transposeInto(k, a, args.lda, args.M, args.K, flat);
            a = flat;
            lda = flatRow(args.K);
        }
        auto* strip = reinterpret_cast<uint16_t*>(memory + flatBytes(args.M, args.K, args.transA));
        if (args.type == GemmType::Bf16) fillStrip(k, a, lda, args.M, args.K, strip);
        int k0 = 0;
        do {
            const int k1 = std::min(args.K, k0 + terms);
            const auto multiply = [&](int slot, int p) {
                const PanelPart part{p, 0, args.M, k0, k1};
                char* own = packed + slot * panel;
                if (args.type == GemmType::Bf16)
                    multiplyPart(g, args, part, strip, stripRow(args.K), b, own);
                else
                    multiplyPart(g, args, part, a, lda, b, own);
            };
            if (inside) {
                parallelSlots(*inside, panels.count(), multiply);
            } else {
                for (int p = 0; p < panels.count(); ++p) multiply(0, p);
            }
            k0 = k1;
        } while (k0 < args.K);
    };
    if (threads == 1 || args.count < 2 * threads) {
        for (int i = 0; i < args.count; ++i) one(i, scratch, scratch + left, threads == 1 ? nullptr : &pool);
        return;
    }
    parallelSlots(pool, args.count, [&](int s, int i) {
        char* own = scratch + s * (left + panel);
        one(i, own, own + left, nullptr);
    });
}

}  // namespace mnnc
