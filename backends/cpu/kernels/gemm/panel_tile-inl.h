// The panel kernels of all element types share this: tile sizes, addressing, the epilogue. It is included once per
// instruction set, hence the toggling guard.
#if defined(MNNC_PANEL_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MNNC_PANEL_TILE_INL_H
#undef MNNC_PANEL_TILE_INL_H
#else
#define MNNC_PANEL_TILE_INL_H
#endif

#include <algorithm>
#include <limits>
#include <utility>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/elementwise/activation-inl.h"
#include "backends/cpu/kernels/elementwise/elementwise_math-inl.h"
#include "backends/cpu/kernels/gemm/arm_products-inl.h"
#include "backends/cpu/kernels/tiles.h"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

constexpr int P = static_cast<int>(kLanes);
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// 32 registers hold a tile of 28 sums. On Arm they hold 21, since each row also needs a vector of four channels. 16
// registers hold 12.
constexpr int kMaxBlocks = P == 16 ? 4 : 3;
#if MNNC_NEON64
constexpr int kMaxRows[5] = {0, 14, 9, 7, 0};
#elif HWY_TARGET == HWY_EMU128  // the compiler keeps larger tiles in memory
constexpr int kMaxRows[5] = {0, 4, 2, 2, 0};
#else
constexpr bool kManyRegisters = P == 16;
constexpr int kMaxRows[5] = {0, kManyRegisters ? 24 : 12, kManyRegisters ? 14 : 6, kManyRegisters ? 9 : 4,
                             kManyRegisters ? 6 : 0};
#endif

// One pointer serves three rows (base, base + s, base + 2s fit x86 addressing), because tall tiles would run out of
// registers otherwise.
template <int R, typename T>
HWY_INLINE void rowPointers(const T* (&q)[(R + 2) / 3], const T* p, ptrdiff_t s) {
    HWY_UNROLL(16)
    for (int g = 0; g < (R + 2) / 3; ++g) {
        q[g] = p + 3 * g * s;
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
        asm("" : "+r"(q[g]));  // prevents the compiler from making R induction variables of the pointers
#endif
    }
}

// Sets every accumulator to the bias.
template <int R, int NB>
HWY_INLINE void startTile(const float* bias, V (&acc)[R][NB]) {
    const D d;
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) {
        const V b = hn::LoadU(d, bias + n * P);
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) acc[r][n] = b;
    }
}

// The last vector of each row of a tile, some lanes of which may lie beyond the row.
class LastVector {
  public:
    explicit LastVector(int lanes)
        : lanes_(static_cast<size_t>(lanes))
#if HWY_TARGET == HWY_AVX3
          ,
          mask_(static_cast<__mmask16>((1u << lanes) - 1))
#endif
    {
    }
#if HWY_TARGET == HWY_AVX3
    HWY_INLINE V load(const float* from) const {
        return V{_mm512_maskz_loadu_ps(mask_, from)};
    }
    HWY_INLINE void store(V v, float* to) const {
        _mm512_mask_storeu_ps(to, mask_, v.raw);
    }
#else
    HWY_INLINE V load(const float* from) const {
        return loadSome(from, lanes_, 0);
    }
    HWY_INLINE void store(V v, float* to) const {
        storeSome(v, to, lanes_);
    }
#endif

  private:
    size_t lanes_;
#if HWY_TARGET == HWY_AVX3
    __mmask16 mask_;
#endif
};

// Adds the residual, clamps and stores, row by row. A single pointer advances, because the compiler would keep the
// addresses of all vectors on the stack.
template <int R, int NB, typename Args>
HWY_INLINE void storeTile(const Args& t, V (&acc)[R][NB], float* dst, const float* residual) {
    const D d;
    const ptrdiff_t ps = t.dstPixelStride, bs = t.dstBlockStride;
    const bool whole = t.lastLanes == P;
    const LastVector last(t.lastLanes);
    const auto nextRow = [ps](auto*& row) HWY_ATTR {
        row += ps;
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
        asm("" : "+r"(row));
#endif
    };
    if (residual) {
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) {
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) {
                const float* from = residual + n * bs;
                const V more = n + 1 < NB || whole ? hn::LoadU(d, from) : last.load(from);
                acc[r][n] = hn::Add(acc[r][n], more);
            }
            nextRow(residual);
        }
    }
    if (t.lo > -kInfinity || t.hi < kInfinity) {
        const V lo = hn::Set(d, t.lo), hi = hn::Set(d, t.hi);
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) {
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) acc[r][n] = limit::clamp(acc[r][n], lo, hi);
        }
    }
    HWY_UNROLL(32)
    for (int r = 0; r < R; ++r) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) {
            if (n + 1 < NB || whole)  // masked stores of whole vectors are slower where memory is
                hn::StoreU(acc[r][n], d, dst + n * bs);
            else
                last.store(acc[r][n], dst + n * bs);
        }
        nextRow(dst);
    }
}

// Adds the residual to `count` contiguous rows of t.nb vectors, the width of the tile, activates them together, so that
// an activation sets its constants up only once, and stores them.
template <typename Args>
HWY_NOINLINE void finishActivated(const Args& t, float* rows, int count, float* dst, const float* residual) {
    const D d;
    const int nb = t.nb;
    const ptrdiff_t ps = t.dstPixelStride, bs = t.dstBlockStride;
    const auto lanesOf = [&](int n) { return static_cast<size_t>(n + 1 == nb ? t.lastLanes : P); };
    for (int r = 0; residual && r < count; ++r) {
        for (int n = 0; n < nb; ++n) {
            float* row = rows + (r * nb + n) * P;
            hn::Store(hn::Add(hn::Load(d, row), loadSome(residual + r * ps + n * bs, lanesOf(n), 0)), d, row);
        }
    }
    activate(rows, static_cast<size_t>(count) * nb * P, t.act, t.lo, t.hi);
    for (int r = 0; r < count; ++r)
        for (int n = 0; n < nb; ++n) storeSome(hn::Load(d, rows + (r * nb + n) * P), dst + r * ps + n * bs, lanesOf(n));
}

// Adds the residual, activates, clamps and stores.
template <int R, int NB, typename Args>
HWY_INLINE void finishTile(const Args& t, V (&acc)[R][NB], float* dst, const float* residual) {
    if (t.act == Act::None) return storeTile(t, acc, dst, residual);
    HWY_ALIGN float rows[R * NB * P];
    HWY_UNROLL(32)
    for (int r = 0; r < R; ++r) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) hn::Store(acc[r][n], D(), rows + (r * NB + n) * P);
    }
    finishActivated(t, rows, R, dst, residual);
}

// Requests the lines that rows begin .. end are stored to. The CPU does not prefetch rows that are far apart, and
// stores of whole tiles would wait for memory.
template <typename Args>
HWY_INLINE void fetchRows(const Args& t, int begin, int end) {
    constexpr int kLine = 16;  // floats
    const int length = (t.nb - 1) * P + t.lastLanes;
    for (int r = begin; r < end; ++r) {
        const float* dst = t.dst + r * t.dstPixelStride;
        for (int i = 0; i < length; i += kLine) hwy::Prefetch(dst + i);
        hwy::Prefetch(dst + length - 1);
    }
}

// The addresses that a tile prefetches while it multiplies: each is `step` bytes behind the one before.
struct Ahead {
    const char* at;
    ptrdiff_t step;

    HWY_INLINE void fetch() {
        __builtin_prefetch(at, 0, 2);
        at += step;
    }
};

// Calls the function of the table for each tile of the m pixels of a panel, with (args, a, dst, residual, ahead). The
// panels are contiguous: while the tiles of this one run, each of them prefetches its part of the next panel, because
// requests for a whole panel at once would wait for memory. `lines`: vectors of a block of the panel; vectorElements:
// elements in each; fetches: how many addresses a tile prefetches.
template <typename Args, typename Fn>
HWY_INLINE void runTiles(const Args& t, const TileTable<Fn>& tiles, const int (&maxRows)[5], ptrdiff_t lines,
                         int vectorElements, ptrdiff_t fetches) {
    constexpr ptrdiff_t kLine = 64;
    const ptrdiff_t panel = lines * t.nb * vectorElements, requests = fetches * ceilDiv(t.m, maxRows[t.nb]);
    const auto* next = reinterpret_cast<const char*>(t.next ? t.next : t.w + panel);
    const ptrdiff_t bytes = panel * ptrdiff_t{sizeof(*t.w)};
    const ptrdiff_t step = requests > 0 ? std::min(kLine, (bytes + requests - 1) / requests) : kLine;
    forEqualTiles(t.m, maxRows[t.nb], [&](int at, int rows) {
        if (t.fetchDst) fetchRows(t, at == 0 ? 0 : at + rows, std::min(at + 2 * rows, t.m));
        tiles.fn[t.nb - 1][rows - 1](t, t.a + at * t.pixelStride, t.dst + at * t.dstPixelStride,
                                     t.residual ? t.residual + at * t.dstPixelStride : nullptr, {next, step});
        next += fetches * step;
    });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif
