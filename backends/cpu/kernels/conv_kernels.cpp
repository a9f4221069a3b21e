#include "backends/cpu/kernels/conv_kernels.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/winograd_points.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/conv_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "hwy/contrib/math/math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int P = static_cast<int>(hn::MaxLanes(D()));

// ---- activations ----

HWY_INLINE V expSafe(D d, V x) {
    // Past 88 the result overflows anyway; below -104 it is zero, which Highway's Exp handles.
    return hn::Exp(d, hn::Min(x, hn::Set(d, 88.0f)));
}

HWY_INLINE V sigmoid(D d, V x) {
    const V one = hn::Set(d, 1.0f);
    return hn::Div(one, hn::Add(one, expSafe(d, hn::Neg(x))));
}

// x/2 (1 + erf(x / sqrt 2)); erfc by Abramowitz and Stegun 7.1.26, absolute error below 1.5e-7.
HWY_INLINE V geluErf(D d, V x) {
    const V z = hn::Mul(hn::Abs(x), hn::Set(d, 0.70710678118654752f));
    const V one = hn::Set(d, 1.0f);
    const V t = hn::Div(one, hn::MulAdd(hn::Set(d, 0.3275911f), z, one));
    V poly = hn::Set(d, 1.061405429f);
    poly = hn::MulAdd(poly, t, hn::Set(d, -1.453152027f));
    poly = hn::MulAdd(poly, t, hn::Set(d, 1.421413741f));
    poly = hn::MulAdd(poly, t, hn::Set(d, -0.284496736f));
    poly = hn::MulAdd(poly, t, hn::Set(d, 0.254829592f));
    const V e = hn::Mul(hn::Mul(poly, t), expSafe(d, hn::Neg(hn::Mul(z, z))));  // erfc(z)
    const V half = hn::Mul(x, hn::Set(d, 0.5f));
    return hn::Mul(half, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, hn::Sub(hn::Set(d, 2.0f), e)));
}

HWY_INLINE V tanhAct(D d, V x) {
    const V one = hn::Set(d, 1.0f);
    const V two = hn::Set(d, 2.0f);
    const V big = hn::Sub(one, hn::Div(two, hn::Add(one, expSafe(d, hn::Mul(two, x)))));
    // Near zero the difference above cancels.
    const V x2 = hn::Mul(x, x);
    V s = hn::Set(d, -17.0f / 315.0f);
    s = hn::MulAdd(s, x2, hn::Set(d, 2.0f / 15.0f));
    s = hn::MulAdd(s, x2, hn::Set(d, -1.0f / 3.0f));
    const V small = hn::MulAdd(hn::Mul(s, x2), x, x);
    return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0.15f)), small, big);
}

HWY_INLINE V activateVector(D d, V x, Act act) {
    const V three = hn::Set(d, 3.0f), six = hn::Set(d, 6.0f), sixth = hn::Set(d, 1.0f / 6.0f);
    switch (act) {
        case Act::HardSwish:
            return hn::Mul(hn::Mul(x, sixth), hn::Min(hn::Max(hn::Add(x, three), hn::Zero(d)), six));
        case Act::Silu:
            return hn::Mul(x, sigmoid(d, x));
        case Act::Gelu:
            return geluErf(d, x);
        case Act::Sigmoid:
            return sigmoid(d, x);
        case Act::HardSigmoid:
            return hn::Mul(hn::Min(hn::Max(hn::Add(x, three), hn::Zero(d)), six), sixth);
        case Act::Tanh:
            return tanhAct(d, x);
        case Act::None:
            break;
    }
    return x;
}

void activate(float* data, size_t count, Act act, float lo, float hi) {
    const D d;
    const V vlo = hn::Set(d, lo), vhi = hn::Set(d, hi);
    size_t i = 0;
    for (; i + P <= count; i += P) {
        hn::StoreU(hn::Min(hn::Max(activateVector(d, hn::LoadU(d, data + i), act), vlo), vhi), d, data + i);
    }
    if (i < count) {
        HWY_ALIGN float rest[P] = {};
        std::memcpy(rest, data + i, (count - i) * sizeof(float));
        hn::Store(hn::Min(hn::Max(activateVector(d, hn::Load(d, rest), act), vlo), vhi), d, rest);
        std::memcpy(data + i, rest, (count - i) * sizeof(float));
    }
}

// ---- the tile: R pixels by NB blocks of output channels, all sums in registers ----

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

// ---- depthwise ----

template <int C>
HWY_INLINE void finishRow(D d, V (&acc)[C], float* dst, const float* residual, V lo, V hi, Act act) {
    HWY_UNROLL(8)
    for (int c = 0; c < C; ++c) {
        V v = acc[c];
        if (residual) v = hn::Add(v, hn::LoadU(d, residual + c * P));
        if (act == Act::None) v = hn::Min(hn::Max(v, lo), hi);
        hn::StoreU(v, d, dst + c * P);
    }
}

// What a depthwise kernel knows at compile time; 0: only at run time.
template <int KWidth, int Stride>
struct DepthwiseKind {
    static constexpr int KW = KWidth, S = Stride;  // S > 0 means dilation 1 too
};

// C outputs side by side, taps [ky0, ky1) x [kx0, kx1) of them all inside the map.
template <class Kind, int C>
HWY_INLINE void depthwiseTile(D d, const DepthwiseArgs& t, const float* src, int ky0, int ky1, int kx0,
                              int kx1, float* dst, const float* residual, V lo, V hi) {
    const ConvShape& s = *t.shape;
    const ptrdiff_t step = Kind::S ? Kind::S * P : ptrdiff_t(s.strideW) * P;
    const ptrdiff_t dx = Kind::S ? P : ptrdiff_t(s.dilateW) * P;
    const ptrdiff_t row = ptrdiff_t(s.iw) * s.dilateH * P;
    V acc[C];
    const V bias = hn::LoadU(d, t.bias);
    HWY_UNROLL(8)
    for (int c = 0; c < C; ++c) acc[c] = bias;
    const float* line = src + ky0 * row;
    const float* w = t.w + ky0 * s.kw * P;
    for (int ky = ky0; ky < ky1; ++ky, line += row, w += s.kw * P) {
        if constexpr (Kind::KW > 0) {
            HWY_UNROLL(8)
            for (int kx = 0; kx < Kind::KW; ++kx) {
                const V k = hn::LoadU(d, w + kx * P);
                HWY_UNROLL(8)
                for (int c = 0; c < C; ++c)
                    acc[c] = hn::MulAdd(hn::LoadU(d, line + kx * dx + c * step), k, acc[c]);
            }
        } else {
            const float* p = line + kx0 * dx;
            for (int kx = kx0; kx < kx1; ++kx, p += dx) {
                const V k = hn::LoadU(d, w + kx * P);
                HWY_UNROLL(8)
                for (int c = 0; c < C; ++c) acc[c] = hn::MulAdd(hn::LoadU(d, p + c * step), k, acc[c]);
            }
        }
    }
    finishRow<C>(d, acc, dst, residual, lo, hi, t.act);
}

// The taps k of [0, n) with 0 <= origin + k*dilate < extent.
HWY_INLINE void tapRange(int origin, int dilate, int n, int extent, int& first, int& last) {
    first = origin >= 0 ? 0 : std::min(n, (-origin + dilate - 1) / dilate);
    last = origin >= extent ? 0 : std::min(n, (extent - origin + dilate - 1) / dilate);
    if (last < first) last = first;
}

template <class Kind>
HWY_INLINE void depthwiseTiles(D d, int n, const DepthwiseArgs& t, const float* src, int ky0, int ky1,
                               int kx0, int kx1, float* dst, const float* residual, V lo, V hi) {
#define MNNC_TILE(C) \
    case C:          \
        return depthwiseTile<Kind, C>(d, t, src, ky0, ky1, kx0, kx1, dst, residual, lo, hi);
    switch (n) {
        MNNC_TILE(1)
        MNNC_TILE(2)
        MNNC_TILE(3)
        MNNC_TILE(4)
        MNNC_TILE(5)
        MNNC_TILE(6)
        MNNC_TILE(7)
        MNNC_TILE(8)
        default:
            return;
    }
#undef MNNC_TILE
}

template <class Kind>
void depthwiseRows(const DepthwiseArgs& t) {
    const D d;
    const ConvShape& s = *t.shape;
    const V lo = hn::Set(d, t.lo), hi = hn::Set(d, t.hi);
    // Outputs [x0, x1) see the whole width of the kernel.
    const int x0 = std::clamp((s.padLeft + s.strideW - 1) / s.strideW, 0, s.ow);
    const int reach = s.iw - 1 - (s.kw - 1) * s.dilateW + s.padLeft;
    const int x1 = std::max(x0, reach < 0 ? 0 : std::min(s.ow, reach / s.strideW + 1));
    const int inside = x1 - x0, tiles = (inside + 7) / 8;
    for (int oy = t.rowBegin; oy < t.rowEnd; ++oy) {
        const int iy = oy * s.strideH - s.padTop;
        int ky0, ky1;
        tapRange(iy, s.dilateH, s.kh, s.ih, ky0, ky1);
        const float* row = t.src + (ptrdiff_t(iy) * s.iw - s.padLeft) * P;
        float* out = t.dst + ptrdiff_t(oy) * s.ow * P;
        const float* residual = t.residual ? t.residual + ptrdiff_t(oy) * s.ow * P : nullptr;
        for (int ox = 0; ox < s.ow; ++ox) {
            if (ox == x0) ox = x1;
            if (ox >= s.ow) break;
            int kx0, kx1;
            tapRange(ox * s.strideW - s.padLeft, s.dilateW, s.kw, s.iw, kx0, kx1);
            depthwiseTile<DepthwiseKind<0, 0>, 1>(d, t, row + ptrdiff_t(ox) * s.strideW * P, ky0, ky1, kx0,
                                                  kx1, out + ox * P, residual ? residual + ox * P : nullptr,
                                                  lo, hi);
        }
        for (int i = 0; i < tiles; ++i) {
            const int ox = x0 + inside * i / tiles, end = x0 + inside * (i + 1) / tiles;
            depthwiseTiles<Kind>(d, end - ox, t, row + ptrdiff_t(ox) * s.strideW * P, ky0, ky1, 0, s.kw,
                                 out + ox * P, residual ? residual + ox * P : nullptr, lo, hi);
        }
        if (t.act != Act::None) activate(out, size_t(s.ow) * P, t.act, t.lo, t.hi);
    }
}

void depthwiseInside(const DepthwiseArgs& t) {
    const ConvShape& s = *t.shape;
    const int stride = s.dilateW == 1 && s.strideW <= 2 ? s.strideW : 0;
    if (s.kw == 3 && stride == 1) return depthwiseRows<DepthwiseKind<3, 1>>(t);
    if (s.kw == 3 && stride == 2) return depthwiseRows<DepthwiseKind<3, 2>>(t);
    if (s.kw == 5 && stride == 1) return depthwiseRows<DepthwiseKind<5, 1>>(t);
    if (s.kw == 5 && stride == 2) return depthwiseRows<DepthwiseKind<5, 2>>(t);
    if (stride == 1) return depthwiseRows<DepthwiseKind<0, 1>>(t);
    return depthwiseRows<DepthwiseKind<0, 0>>(t);
}

void depthwise(const DepthwiseArgs& t) {
    // A small map is mostly border: with a copy that has one, every output takes the fast way. The copy stays
    // in the first level cache.
    constexpr int kPixels = 400;
    const ConvShape& s = *t.shape;
    const int height = (s.oh - 1) * s.strideH + (s.kh - 1) * s.dilateH + 1;
    const int width = (s.ow - 1) * s.strideW + (s.kw - 1) * s.dilateW + 1;
    if (s.kw == 1 || long(height) * width > kPixels) return depthwiseInside(t);
    const D d;
    HWY_ALIGN float map[kPixels * P];
    const int first = t.rowBegin * s.strideH;
    const int last = (t.rowEnd - 1) * s.strideH + (s.kh - 1) * s.dilateH + 1;
    for (int y = first; y < last; ++y) {
        float* to = map + ptrdiff_t(y) * width * P;
        const int iy = y - s.padTop;
        const bool valid = iy >= 0 && iy < s.ih;
        const int x0 = valid ? std::clamp(s.padLeft, 0, width) : width;
        const int x1 = valid ? std::max(x0, std::min(width, s.iw + s.padLeft)) : width;
        for (int x = 0; x < x0; ++x) hn::Store(hn::Zero(d), d, to + x * P);
        const float* from = t.src + (ptrdiff_t(iy) * s.iw - s.padLeft) * P;
        for (int x = x0; x < x1; ++x) hn::Store(hn::LoadU(d, from + x * P), d, to + x * P);
        for (int x = x1; x < width; ++x) hn::Store(hn::Zero(d), d, to + x * P);
    }
    ConvShape bordered = s;
    bordered.ih = height;
    bordered.iw = width;
    bordered.padTop = bordered.padLeft = 0;
    DepthwiseArgs inside = t;
    inside.src = map;
    inside.shape = &bordered;
    depthwiseInside(inside);
}

// Gather form: output (oy, ox) takes tap ky from input row (oy + pad - ky*dilate) / stride where that
// divides.
void depthwiseTransposed(const DepthwiseArgs& t) {
    const D d;
    const ConvShape& s = *t.shape;
    const V lo = hn::Set(d, t.lo), hi = hn::Set(d, t.hi), bias = hn::LoadU(d, t.bias);
    for (int oy = t.rowBegin; oy < t.rowEnd; ++oy) {
        float* out = t.dst + ptrdiff_t(oy) * s.ow * P;
        for (int ox = 0; ox < s.ow; ++ox) {
            V acc[1] = {bias};
            for (int ky = 0; ky < s.kh; ++ky) {
                const int y = oy + s.padTop - ky * s.dilateH;
                if (y < 0 || y % s.strideH != 0 || y / s.strideH >= s.ih) continue;
                const float* row = t.src + ptrdiff_t(y / s.strideH) * s.iw * P;
                for (int kx = 0; kx < s.kw; ++kx) {
                    const int x = ox + s.padLeft - kx * s.dilateW;
                    if (x < 0 || x % s.strideW != 0 || x / s.strideW >= s.iw) continue;
                    acc[0] = hn::MulAdd(hn::LoadU(d, row + x / s.strideW * P),
                                        hn::LoadU(d, t.w + (ky * s.kw + kx) * P), acc[0]);
                }
            }
            finishRow<1>(d, acc, out + ox * P,
                         t.residual ? t.residual + (ptrdiff_t(oy) * s.ow + ox) * P : nullptr, lo, hi, t.act);
        }
        if (t.act != Act::None) activate(out, size_t(s.ow) * P, t.act, t.lo, t.hi);
    }
}

// ---- Winograd ----

template <int M>
struct Wino {
    static constexpr WinogradMatrices<M> m{};
    static constexpr int A = M + 2;
};

// sum over j of coefficient(j) * x[j * step], zero terms dropped and +-1 done by additions, at compile time.
template <class Coefficient, int J, int N>
HWY_INLINE V combine(D d, const V* x, int step) {
    constexpr double c = Coefficient::at(J);
    if constexpr (J + 1 == N) {
        if constexpr (c == 0) return hn::Zero(d);
        if constexpr (c == 1) return x[J * step];
        return hn::Mul(hn::Set(d, static_cast<float>(c)), x[J * step]);
    } else {
        constexpr bool restEmpty = Coefficient::emptyFrom(J + 1, N);
        if constexpr (c == 0) {
            return combine<Coefficient, J + 1, N>(d, x, step);
        } else if constexpr (restEmpty) {
            if constexpr (c == 1) return x[J * step];
            return hn::Mul(hn::Set(d, static_cast<float>(c)), x[J * step]);
        } else {
            const V rest = combine<Coefficient, J + 1, N>(d, x, step);
            if constexpr (c == 1) return hn::Add(rest, x[J * step]);
            if constexpr (c == -1) return hn::Sub(rest, x[J * step]);
            return hn::MulAdd(hn::Set(d, static_cast<float>(c)), x[J * step], rest);
        }
    }
}

template <class Self>
struct Row {
    static constexpr bool emptyFrom(int from, int n) {
        for (int j = from; j < n; ++j) {
            if (Self::at(j) != 0) return false;
        }
        return true;
    }
};
template <int M, int I>
struct InputRow : Row<InputRow<M, I>> {
    static constexpr double at(int j) { return Wino<M>::m.bt[I][j]; }
};
template <int M, int I>
struct HalfRow : Row<HalfRow<M, I>> {  // R
    static constexpr double at(int j) { return Wino<M>::m.half[I][j]; }
};
template <int M, int I>
struct ScaledHalfRow : Row<ScaledHalfRow<M, I>> {  // p * R
    static constexpr double at(int j) { return Wino<M>::m.half[I][j] * Wino<M>::m.points[I]; }
};
template <int M, int I>
struct WeightRow : Row<WeightRow<M, I>> {
    static constexpr double at(int j) { return Wino<M>::m.g[I][j]; }
};
// Over [sum or difference of pair 0, ...] the output matrix is half as wide; see outputLine.
template <int M, int I>
struct OutputRow : Row<OutputRow<M, I>> {
    static constexpr double at(int j) {
        // Position j of the second of a pair holds the difference of the two, of the first their sum.
        const auto& m = Wino<M>::m;
        if (m.pairFirst[j]) return I % 2 == 0 ? m.at[I][j] : 0;
        if (m.pairSecond[j]) return I % 2 == 1 ? m.at[I][j - 1] : 0;
        return m.at[I][j];
    }
};

template <int M, int I>
HWY_INLINE void inputRows(D d, const V* x, V* out) {
    if constexpr (I < M + 2) {
        if constexpr (Wino<M>::m.pairFirst[I]) {
            const V u = combine<HalfRow<M, I>, 0, M + 1>(d, x + 1, 1);
            const V v = combine<ScaledHalfRow<M, I>, 0, M + 1>(d, x, 1);
            out[I] = hn::Add(u, v);
            out[I + 1] = hn::Sub(u, v);
            inputRows<M, I + 2>(d, x, out);
        } else {
            out[I] = combine<InputRow<M, I>, 0, M + 2>(d, x, 1);
            inputRows<M, I + 1>(d, x, out);
        }
    }
}
template <int M, int I>
HWY_INLINE void pairUp(V* x) {
    if constexpr (I < M + 2) {
        if constexpr (Wino<M>::m.pairFirst[I]) {
            const V sum = hn::Add(x[I], x[I + 1]);
            x[I + 1] = hn::Sub(x[I], x[I + 1]);
            x[I] = sum;
        }
        pairUp<M, I + 1>(x);
    }
}
template <int M, int I>
HWY_INLINE void outputRows(D d, const V* x, V* out) {
    if constexpr (I < M) {
        out[I] = combine<OutputRow<M, I>, 0, M + 2>(d, x, 1);
        outputRows<M, I + 1>(d, x, out);
    }
}
template <int M, int I>
HWY_INLINE void weightRows(D d, const V* x, V* out) {
    if constexpr (I < M + 2) {
        out[I] = combine<WeightRow<M, I>, 0, 3>(d, x, 1);
        weightRows<M, I + 1>(d, x, out);
    }
}

template <int M>
void winogradIn(const WinogradIn& t) {
    constexpr int A = M + 2;
    const D d;
    HWY_ALIGN float edge[A * A * P];
    HWY_ALIGN float middle[A * A * P];
    for (int tileIndex = t.t0; tileIndex < t.t1; ++tileIndex) {
        const int iy = tileIndex / t.tilesW * M - t.padTop;
        const int ix = tileIndex % t.tilesW * M - t.padLeft;
        const float* src = t.src + (ptrdiff_t(iy) * t.iw + ix) * P;
        ptrdiff_t rowStride = ptrdiff_t(t.iw) * P;
        if (iy < 0 || ix < 0 || iy + A > t.ih || ix + A > t.iw) {
            const int x0 = std::max(0, -ix), x1 = std::max(x0, std::min(A, t.iw - ix));
            for (int y = 0; y < A; ++y) {
                float* line = edge + y * A * P;
                if (iy + y < 0 || iy + y >= t.ih) {
                    for (int x = 0; x < A; ++x) hn::Store(hn::Zero(d), d, line + x * P);
                    continue;
                }
                const float* from = src + y * rowStride;
                for (int x = 0; x < x0; ++x) hn::Store(hn::Zero(d), d, line + x * P);
                for (int x = x0; x < x1; ++x) hn::Store(hn::LoadU(d, from + x * P), d, line + x * P);
                for (int x = x1; x < A; ++x) hn::Store(hn::Zero(d), d, line + x * P);
            }
            src = edge;
            rowStride = A * P;
        }
        for (int x = 0; x < A; ++x) {
            V in[A], out[A];
            HWY_UNROLL(8)
            for (int y = 0; y < A; ++y) in[y] = hn::LoadU(d, src + y * rowStride + x * P);
            inputRows<M, 0>(d, in, out);
            HWY_UNROLL(8)
            for (int y = 0; y < A; ++y) hn::Store(out[y], d, middle + (y * A + x) * P);
        }
        float* dst = t.dst + ptrdiff_t(tileIndex - t.t0) * P;
        for (int y = 0; y < A; ++y) {
            V in[A], out[A];
            HWY_UNROLL(8)
            for (int x = 0; x < A; ++x) in[x] = hn::Load(d, middle + (y * A + x) * P);
            inputRows<M, 0>(d, in, out);
            HWY_UNROLL(8)
            for (int x = 0; x < A; ++x) hn::StoreU(out[x], d, dst + (y * A + x) * t.pointStride);
        }
    }
}

template <int M>
void winogradOut(const WinogradOut& t) {
    constexpr int A = M + 2;
    const D d;
    const bool plain = t.act == Act::None;
    const V bias = hn::LoadU(d, t.bias), lo = hn::Set(d, t.lo), hi = hn::Set(d, t.hi);
    HWY_ALIGN float middle[M * A * P];
    for (int tileIndex = t.t0; tileIndex < t.t1; ++tileIndex) {
        const int oy = tileIndex / t.tilesW * M, ox = tileIndex % t.tilesW * M;
        const float* src = t.src + ptrdiff_t(tileIndex - t.t0) * P;
        for (int x = 0; x < A; ++x) {
            V in[A], out[M];
            HWY_UNROLL(8)
            for (int y = 0; y < A; ++y) in[y] = hn::LoadU(d, src + (y * A + x) * t.pointStride);
            pairUp<M, 0>(in);
            outputRows<M, 0>(d, in, out);
            HWY_UNROLL(8)
            for (int y = 0; y < M; ++y) hn::Store(out[y], d, middle + (y * A + x) * P);
        }
        const int rows = std::min(M, t.oh - oy), columns = std::min(M, t.ow - ox);
        for (int y = 0; y < rows; ++y) {
            V in[A], out[M];
            HWY_UNROLL(8)
            for (int x = 0; x < A; ++x) in[x] = hn::Load(d, middle + (y * A + x) * P);
            pairUp<M, 0>(in);
            outputRows<M, 0>(d, in, out);
            const ptrdiff_t at = (ptrdiff_t(oy + y) * t.ow + ox) * P;
            HWY_UNROLL(8)
            for (int x = 0; x < M; ++x) {
                if (x >= columns) break;
                V v = hn::Add(out[x], bias);
                if (t.residual) v = hn::Add(v, hn::LoadU(d, t.residual + at + x * P));
                if (plain) v = hn::Min(hn::Max(v, lo), hi);
                hn::StoreU(v, d, t.dst + at + x * P);
            }
            if (!plain) activate(t.dst + at, size_t(columns) * P, t.act, t.lo, t.hi);
        }
    }
}

template <int M>
void winogradWeight(const float* g, float* u, ptrdiff_t pointStride) {
    constexpr int A = M + 2;
    const D d;
    V middle[A][3];
    for (int x = 0; x < 3; ++x) {
        V in[3], out[A];
        for (int y = 0; y < 3; ++y) in[y] = hn::LoadU(d, g + (y * 3 + x) * P);
        weightRows<M, 0>(d, in, out);
        for (int y = 0; y < A; ++y) middle[y][x] = out[y];
    }
    for (int y = 0; y < A; ++y) {
        V out[A];
        weightRows<M, 0>(d, middle[y], out);
        for (int x = 0; x < A; ++x) hn::StoreU(out[x], d, u + (y * A + x) * pointStride);
    }
}

}  // namespace

const ConvKernels& convTable() {
    static constexpr ConvKernels table = {
        P,
        kMaxBlocks,
        {0, kMaxRows[1], kMaxRows[2], kMaxRows[3], kMaxRows[4]},
        &panel,
        &depthwise,
        &depthwiseTransposed,
        {nullptr, &winogradIn<2>, &winogradIn<4>, &winogradIn<6>},
        {nullptr, &winogradOut<2>, &winogradOut<4>, &winogradOut<6>},
        {nullptr, &winogradWeight<2>, &winogradWeight<4>, &winogradWeight<6>},
        &activate,
    };
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const ConvKernels& convKernels(Isa isa) {
    MNNC_SELECT(isa, convTable)
}
}  // namespace mnnc
#endif
