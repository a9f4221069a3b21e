// The matrix products under convolutions and gemm: one panel of output channels over many pixels.
#include "backends/cpu/kernels/conv_kernels.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/panel_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/activation-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

constexpr int P = static_cast<int>(kLanes);

template <int R, int NB, int L>
HWY_INLINE void accumulate(D d, V (&acc)[R][NB], const float* const (&q)[(R + 2) / 3], ptrdiff_t s,
                           const float* w, const float* ahead) {
    HWY_UNROLL(4)
    for (int l = 0; l < L; ++l) {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
        __builtin_prefetch(ahead + l * P, 0, 2);
#endif
        V b[NB];
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) b[n] = hn::LoadU(d, w + (l * NB + n) * P);
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) {
            const V x = hn::Set(d, q[r / 3][(r % 3) * s + l]);
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) acc[r][n] = hn::MulAdd(x, b[n], acc[r][n]);
        }
    }
}

// One pointer for three rows (base, base + s, base + 2s fit x86 addressing): else the tall tiles run out of
// registers.
template <int R>
HWY_INLINE void rowPointers(const float* (&q)[(R + 2) / 3], const float* p, ptrdiff_t s) {
    HWY_UNROLL(16)
    for (int g = 0; g < (R + 2) / 3; ++g) {
        q[g] = p + 3 * g * s;
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
        asm("" : "+r"(q[g]));  // or the compiler rewrites them as R separate induction variables
#endif
    }
}

template <int R, int NB>
HWY_NOINLINE void tile(const PanelArgs& t, const float* a, float* dst, const float* residual,
                       const float* ahead) {
    const D d;
    constexpr int G = (R + 2) / 3;
    V acc[R][NB];
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) {
        const V bias = hn::LoadU(d, t.bias + n * P);
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) acc[r][n] = bias;
    }
    const ptrdiff_t s = t.pixelStride;
    const float* w = t.w;
    for (int tap = 0; tap < t.taps; ++tap) {
        const float* p = a + t.tapOffset[tap];
        for (int block = 0; block < t.fullBlocks; ++block, p += t.blockStride) {
            const float* q[G];
            rowPointers<R>(q, p, s);
            for (int l = 0; l < P; l += 4) {
                accumulate<R, NB, 4>(d, acc, q, s, w, ahead);
                w += 4 * NB * P;
                ahead += 4 * P;
                HWY_UNROLL(16)
                for (int g = 0; g < G; ++g) q[g] += 4;
            }
        }
        if (t.tail) {
            const float* q[G];
            rowPointers<R>(q, p, s);
            int l = 0;
            for (; l + 4 <= t.tail; l += 4) {
                accumulate<R, NB, 4>(d, acc, q, s, w, ahead);
                w += 4 * NB * P;
                ahead += 4 * P;
                HWY_UNROLL(16)
                for (int g = 0; g < G; ++g) q[g] += 4;
            }
            for (; l < t.tail; ++l) {
                accumulate<R, NB, 1>(d, acc, q, s, w, ahead);
                w += NB * P;
                ahead += P;
                HWY_UNROLL(16)
                for (int g = 0; g < G; ++g) ++q[g];
            }
        }
    }
    const bool plain = t.act == Act::None;
    const V lo = hn::Set(d, plain ? t.lo : -hwy::HighestValue<float>() * 2.0f);
    const V hi = hn::Set(d, plain ? t.hi : hwy::HighestValue<float>() * 2.0f);
    const ptrdiff_t ps = t.dstPixelStride, bs = t.dstBlockStride;
    if (t.lastLanes == P) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) {
            HWY_UNROLL(32)
            for (int r = 0; r < R; ++r) {
                V v = acc[r][n];
                if (residual) v = hn::Add(v, hn::LoadU(d, residual + r * ps + n * bs));
                hn::StoreU(hn::Min(hn::Max(v, lo), hi), d, dst + r * ps + n * bs);
            }
        }
    } else {
        HWY_ALIGN float rows[R * NB * P];
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) {
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) hn::Store(acc[r][n], d, rows + (r * NB + n) * P);
        }
        for (int r = 0; r < R; ++r) {
            for (int n = 0; n < NB; ++n) {
                const int lanes = n + 1 == NB ? t.lastLanes : P;
                for (int l = 0; l < lanes; ++l) {
                    const ptrdiff_t at = r * ps + n * bs + l;
                    float v = rows[(r * NB + n) * P + l];
                    if (residual) v += residual[at];
                    if (plain) v = std::min(std::max(v, t.lo), t.hi);
                    dst[at] = v;
                }
            }
        }
    }
    if (!plain) {
        for (int n = 0; n < NB; ++n) {
            const int lanes = n + 1 == NB ? t.lastLanes : P;
            if (ps == P && lanes == P) {
                activate(dst + n * bs, size_t(R) * P, t.act, t.lo, t.hi);
            } else {
                for (int r = 0; r < R; ++r) activate(dst + r * ps + n * bs, lanes, t.act, t.lo, t.hi);
            }
        }
    }
}

using TileFn = void (*)(const PanelArgs&, const float*, float*, const float*, const float*);

template <int NB, int... R>
constexpr void fillTiles(TileFn* out, std::integer_sequence<int, R...>) {
    ((out[R] = &tile<R + 1, NB>), ...);
}

// 32 registers hold a tile of 28; 16 hold 12.
constexpr bool kManyRegisters = P == 16;
constexpr int kMaxBlocks = kManyRegisters ? 4 : 3;
constexpr int kMaxRows[5] = {0, kManyRegisters ? 24 : 12, kManyRegisters ? 14 : 6, kManyRegisters ? 9 : 4,
                             kManyRegisters ? 6 : 0};

struct Tiles {
    TileFn fn[4][24] = {};
    constexpr Tiles() {
        fillTiles<1>(fn[0], std::make_integer_sequence<int, kMaxRows[1]>());
        fillTiles<2>(fn[1], std::make_integer_sequence<int, kMaxRows[2]>());
        fillTiles<3>(fn[2], std::make_integer_sequence<int, kMaxRows[3]>());
        if constexpr (kMaxBlocks > 3) fillTiles<4>(fn[3], std::make_integer_sequence<int, kMaxRows[4]>());
    }
};
constexpr Tiles kTiles;

void panel(const PanelArgs& t) {
    // Equal tiles: 49 pixels are five of 8 and one of 9, not five of 9 and one of 4.
    const int count = (t.m + kMaxRows[t.nb] - 1) / kMaxRows[t.nb];
    // The panels lie one after another: while this one's tiles run, each of the first fetches its share of
    // the next.
    const ptrdiff_t steps = ptrdiff_t(t.taps) * (t.fullBlocks * P + t.tail);
    const float* next = t.w + steps * t.nb * P;
    int at = 0;
    for (int i = 0; i < count; ++i) {
        const int end = static_cast<int>(static_cast<long>(t.m) * (i + 1) / count);
        const float* ahead = i < t.nb ? next + i * steps * P : next;
        kTiles.fn[t.nb - 1][end - at - 1](t, t.a + at * t.pixelStride, t.dst + at * t.dstPixelStride,
                                          t.residual ? t.residual + at * t.dstPixelStride : nullptr, ahead);
        at = end;
    }
}

}  // namespace

const PanelKernels& panelKernelsTable() {
    static constexpr PanelKernels table = {
        P,
        kMaxBlocks,
        {0, kMaxRows[1], kMaxRows[2], kMaxRows[3], kMaxRows[4]},
        &panel,
    };
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const PanelKernels& panelKernels(Isa isa) {
    MNNC_SELECT(isa, panelKernelsTable)
}
}  // namespace mnnc
#endif
