// The transforms of Winograd convolutions F(2x2, 3x3), F(4x4, 3x3) and F(6x6, 3x3).
#include "backends/cpu/kernels/conv_kernels.h"

#include <algorithm>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/next_address.h"
#include "backends/cpu/kernels/winograd/winograd_points.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/winograd/winograd_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/elementwise/activation-inl.h"
#include "backends/cpu/kernels/elementwise/elementwise_math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

constexpr int P = static_cast<int>(kLanes);

template <int M>
struct Wino {
    static constexpr WinogradMatrices<M> m{};
    static constexpr int A = M + 2;
};

// Returns the sum over j of coefficient(j) * x[j * step]. Zero terms are dropped and +-1 become additions, at compile
// time.
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
template <int M, int I>
struct EvenWeightRow : Row<EvenWeightRow<M, I>> {
    static constexpr double at(int j) { return j == 1 ? 0 : Wino<M>::m.g[I][j]; }
};
template <int M, int I>
struct OddWeightRow : Row<OddWeightRow<M, I>> {
    static constexpr double at(int j) { return j == 1 ? Wino<M>::m.g[I][j] : 0; }
};
// The columns are [sum or difference of pair 0, ...], so that the output matrix is half as wide; see outputLine.
template <int M, int I>
struct OutputRow : Row<OutputRow<M, I>> {
    static constexpr double at(int j) {
        // The first position of a pair holds the sum, the second one the difference.
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
constexpr bool mirrored() {
    const auto& g = Wino<M>::m.g;
    if constexpr (I + 1 < M + 2) return g[I][0] == g[I + 1][0] && g[I][1] == -g[I + 1][1] && g[I][2] == g[I + 1][2];
    return false;
}
// The rows of a point and of its negative share the even powers and the odd one.
template <int M, int I>
HWY_INLINE void weightRows(D d, const V* x, V* out) {
    if constexpr (mirrored<M, I>()) {
        const V even = combine<EvenWeightRow<M, I>, 0, 3>(d, x, 1);
        const V odd = combine<OddWeightRow<M, I>, 0, 3>(d, x, 1);
        out[I] = hn::Add(even, odd);
        out[I + 1] = hn::Sub(even, odd);
        weightRows<M, I + 2>(d, x, out);
    } else if constexpr (I < M + 2) {
        out[I] = combine<WeightRow<M, I>, 0, 3>(d, x, 1);
        weightRows<M, I + 1>(d, x, out);
    }
}

template <int M>
void winogradInF32(const WinogradIn& args) {
    constexpr int A = M + 2;
    const D d;
    const WinogradIn t = args;  // a copy, because the compiler must assume that stores of vectors change the arguments
    HWY_ALIGN float edge[A * A * P];
    HWY_ALIGN float middle[A * A * P];
    for (int tileIndex = t.t0; tileIndex < t.t1; ++tileIndex) {
        const int iy = tileIndex / t.tilesW * M - t.padTop;
        const int ix = tileIndex % t.tilesW * M - t.padLeft;
        const float* src = t.src + (ptrdiff_t(iy - t.firstRow) * t.iw + ix) * P;
        ptrdiff_t rowStride = ptrdiff_t(t.iw) * P;
        if (iy < 0 || ix < 0 || iy + A > t.ih || ix + A > t.iw) {
            const int x0 = std::clamp(-ix, 0, A), x1 = std::max(x0, std::min(A, t.iw - ix));
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
            for (int x = 0; x < A; ++x, dst = nextAddress(dst, t.pointStride)) hn::StoreU(out[x], d, dst);
        }
    }
}

template <int M>
void winogradOutF32(const WinogradOut& args) {
    constexpr int A = M + 2;
    const D d;
    const WinogradOut t = args;  // as above
    const bool plain = t.act == Act::None;
    const V bias = hn::LoadU(d, t.bias), lo = hn::Set(d, t.lo), hi = hn::Set(d, t.hi);
    HWY_ALIGN float middle[M * A * P];
    for (int tileIndex = t.t0; tileIndex < t.t1; ++tileIndex) {
        const int oy = tileIndex / t.tilesW * M, ox = tileIndex % t.tilesW * M;
        const float* src = t.src + ptrdiff_t(tileIndex - t.t0) * P;
        for (int x = 0; x < A; ++x, src += t.pointStride) {
            V in[A], out[M];
            const float* from = src;
            HWY_UNROLL(8)
            for (int y = 0; y < A; ++y, from = nextAddress(from, A * t.pointStride)) in[y] = hn::LoadU(d, from);
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
void winogradWeightF32(const float* g, float* u, ptrdiff_t pointStride) {
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

const WinogradKernels& winogradKernelsTable() {
    static constexpr WinogradKernels table = {
        {nullptr, &winogradInF32<2>, &winogradInF32<4>, &winogradInF32<6>},
        {nullptr, &winogradOutF32<2>, &winogradOutF32<4>, &winogradOutF32<6>},
        {nullptr, &winogradWeightF32<2>, &winogradWeightF32<4>, &winogradWeightF32<6>},
    };
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const WinogradKernels& winogradKernels(Isa isa) {
    MNNC_SELECT(isa, winogradKernelsTable)
}
}  // namespace mnnc
#endif
