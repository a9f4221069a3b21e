// The transforms of Winograd convolutions: F(2x2, 3x3), F(4x4, 3x3), F(6x6, 3x3), F(2x2, 2x2), F(4x4, 2x2) and
// F(4x4, 5x5), along one axis F(4, 3), F(6, 3), F(4, 5) and F(2, 7), and with a stride of 2 F(2x2, 3x3), F(2x2, 4x4),
// F(2x2, 5x5) and F(4, 3).
#include "backends/cpu/kernels/winograd/winograd_kernels.h"

#include <algorithm>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/next_address.h"
#include "backends/cpu/kernels/winograd/winograd_points.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/winograd/winograd_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/elementwise/activation-inl.h"
#include "backends/cpu/kernels/elementwise/elementwise_math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

constexpr int P = static_cast<int>(kLanes);

template <int M, int K>
struct Wino {
    static constexpr WinogradMatrices<M, K> m{};
};
// The input transform of A points: F(A - 1, 2), F(A - 2, 3), F(A - 4, 5) and F(A - 6, 7) share it.
template <int A>
using Points = Wino<A - 2, 3>;

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
template <int A, int I>
struct InputRow : Row<InputRow<A, I>> {
    static constexpr double at(int j) { return Points<A>::m.bt[I][j]; }
};
template <int A, int I>
struct HalfRow : Row<HalfRow<A, I>> {  // R
    static constexpr double at(int j) { return Points<A>::m.half[I][j]; }
};
template <int A, int I>
struct ScaledHalfRow : Row<ScaledHalfRow<A, I>> {  // p * R
    static constexpr double at(int j) { return Points<A>::m.half[I][j] * Points<A>::m.points[I]; }
};
template <int M, int K, int I>
struct WeightRow : Row<WeightRow<M, K, I>> {
    static constexpr double at(int j) { return Wino<M, K>::m.g[I][j]; }
};
template <int M, int K, int I>
struct EvenWeightRow : Row<EvenWeightRow<M, K, I>> {
    static constexpr double at(int j) { return j % 2 == 1 ? 0 : Wino<M, K>::m.g[I][j]; }
};
template <int M, int K, int I>
struct OddWeightRow : Row<OddWeightRow<M, K, I>> {
    static constexpr double at(int j) { return j % 2 == 1 ? Wino<M, K>::m.g[I][j] : 0; }
};
// The columns are [sum or difference of pair 0, ...], so that the output matrix is half as wide; see pairUp.
template <int M, int K, int I>
struct OutputRow : Row<OutputRow<M, K, I>> {
    static constexpr double at(int j) {
        // The first position of a pair holds the sum, the second one the difference.
        const auto& m = Wino<M, K>::m;
        if (m.pairFirst[j]) return I % 2 == 0 ? m.at[I][j] : 0;
        if (m.pairSecond[j]) return I % 2 == 1 ? m.at[I][j - 1] : 0;
        return m.at[I][j];
    }
};

// Transforms x[0], x[Step] ...
template <int A, int Step, int I>
HWY_INLINE void inputRows(D d, const V* x, V* out) {
    if constexpr (I < A) {
        if constexpr (Points<A>::m.pairFirst[I]) {
            const V u = combine<HalfRow<A, I>, 0, A - 1>(d, x + Step, Step);
            const V v = combine<ScaledHalfRow<A, I>, 0, A - 1>(d, x, Step);
            out[I] = hn::Add(u, v);
            out[I + 1] = hn::Sub(u, v);
            inputRows<A, Step, I + 2>(d, x, out);
        } else {
            out[I] = combine<InputRow<A, I>, 0, A>(d, x, Step);
            inputRows<A, Step, I + 1>(d, x, out);
        }
    }
}
template <int A, int I>
HWY_INLINE void pairUp(V* x) {
    if constexpr (I < A) {
        if constexpr (Points<A>::m.pairFirst[I]) {
            const V sum = hn::Add(x[I], x[I + 1]);
            x[I + 1] = hn::Sub(x[I], x[I + 1]);
            x[I] = sum;
        }
        pairUp<A, I + 1>(x);
    }
}
template <int M, int K, int I>
HWY_INLINE void outputRows(D d, const V* x, V* out) {
    if constexpr (I < M) {
        out[I] = combine<OutputRow<M, K, I>, 0, M + K - 1>(d, x, 1);
        outputRows<M, K, I + 1>(d, x, out);
    }
}
template <int M, int K, int I>
constexpr bool mirrored() {
    const auto& g = Wino<M, K>::m.g;
    if constexpr (I + 1 < M + K - 1) {
        for (int j = 0; j < K; ++j)
            if (g[I][j] != (j % 2 == 0 ? g[I + 1][j] : -g[I + 1][j])) return false;
        return true;
    }
    return false;
}
// The rows of a point and of its negative share the even powers and the odd ones.
template <int M, int K, int I>
HWY_INLINE void weightRows(D d, const V* x, V* out) {
    if constexpr (mirrored<M, K, I>()) {
        const V even = combine<EvenWeightRow<M, K, I>, 0, K>(d, x, 1);
        const V odd = combine<OddWeightRow<M, K, I>, 0, K>(d, x, 1);
        out[I] = hn::Add(even, odd);
        out[I + 1] = hn::Sub(even, odd);
        weightRows<M, K, I + 2>(d, x, out);
    } else if constexpr (I < M + K - 1) {
        out[I] = combine<WeightRow<M, K, I>, 0, K>(d, x, 1);
        weightRows<M, K, I + 1>(d, x, out);
    }
}

// The transforms of a line. All forms with the same number of points share the transform of the input.
template <int Points>
struct LineInput {
    static constexpr int A = Points;
    static HWY_INLINE void apply(D d, const V* x, V* out) { inputRows<A, 1, 0>(d, x, out); }
};
// With a stride of 2: the points of the even places, then those of the odd ones.
template <int M, int K>
struct StridedLineInput {
    static constexpr int A = 2 * M + K - 2, kEven = M + (K + 1) / 2 - 1;
    static HWY_INLINE void apply(D d, const V* x, V* out) {
        inputRows<kEven, 2, 0>(d, x, out);
        if constexpr (K > 3) {
            inputRows<A - kEven, 2, 0>(d, x + 1, out + kEven);
        } else {  // a single tap
            HWY_UNROLL(8)
            for (int i = 0; i < M; ++i) out[kEven + i] = x[2 * i + 1];
        }
    }
};

template <int Unit, int Taps>
struct LineOutput {
    static constexpr int M = Unit, A = M + Taps - 1;
    static HWY_INLINE void apply(D d, V* x, V* out) {
        pairUp<A, 0>(x);
        outputRows<M, Taps, 0>(d, x, out);
    }
};
template <int Unit, int K>
struct StridedLineOutput {
    static constexpr int M = Unit, A = 2 * M + K - 2, kEvenTaps = (K + 1) / 2, kEven = M + kEvenTaps - 1;
    static HWY_INLINE void apply(D d, V* x, V* out) {
        LineOutput<M, kEvenTaps>::apply(d, x, out);
        V odd[M];
        if constexpr (K > 3) LineOutput<M, K / 2>::apply(d, x + kEven, odd);
        HWY_UNROLL(8)
        for (int i = 0; i < M; ++i) out[i] = hn::Add(out[i], K > 3 ? odd[i] : x[kEven + i]);
    }
};

template <int M, int Taps>
struct LineWeights {
    static constexpr int K = Taps, A = M + K - 1;
    static HWY_INLINE void apply(D d, const V* x, V* out) { weightRows<M, K, 0>(d, x, out); }
};
template <int M, int Taps>
struct StridedLineWeights {
    static constexpr int K = Taps, kEvenTaps = (K + 1) / 2, kEven = M + kEvenTaps - 1;
    static constexpr int A = WinogradForm{M, K, WinogradForm::Axes::Rows, 2}.lineWeights();
    static HWY_INLINE void apply(D d, const V* x, V* out) {
        V even[kEvenTaps], odd[K / 2];
        for (int i = 0; i < kEvenTaps; ++i) even[i] = x[2 * i];
        for (int i = 0; i < K / 2; ++i) odd[i] = x[2 * i + 1];
        weightRows<M, kEvenTaps, 0>(d, even, out);
        if constexpr (K > 3)
            weightRows<M, K / 2, 0>(d, odd, out + kEven);
        else
            out[kEven] = odd[0];
    }
};

template <class Line>
void winogradInF32(const WinogradIn& args) {
    constexpr int A = Line::A;
    const D d;
    const WinogradIn t = args;  // a copy, because the compiler must assume that stores of vectors change the arguments
    HWY_ALIGN float edge[A * A * P];
    HWY_ALIGN float middle[A * A * P];
    for (int tileIndex = t.t0; tileIndex < t.t1; ++tileIndex) {
        const int iy = tileIndex / t.tilesW * t.stepH - t.padTop;
        const int ix = tileIndex % t.tilesW * t.stepW - t.padLeft;
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
            Line::apply(d, in, out);
            HWY_UNROLL(8)
            for (int y = 0; y < A; ++y) hn::Store(out[y], d, middle + (y * A + x) * P);
        }
        float* dst = t.dst + ptrdiff_t(tileIndex - t.t0) * P;
        for (int y = 0; y < A; ++y) {
            V in[A], out[A];
            HWY_UNROLL(8)
            for (int x = 0; x < A; ++x) in[x] = hn::Load(d, middle + (y * A + x) * P);
            Line::apply(d, in, out);
            HWY_UNROLL(8)
            for (int x = 0; x < A; ++x, dst = nextAddress(dst, t.pointStride)) hn::StoreU(out[x], d, dst);
        }
    }
}

// Does the same along one axis.
template <class Line>
void winogradLineInF32(const WinogradIn& args) {
    constexpr int A = Line::A;
    const D d;
    const WinogradIn t = args;
    const ptrdiff_t stride = t.columns ? ptrdiff_t(t.iw) * P : P;
    const int extent = t.columns ? t.ih : t.iw;
    HWY_ALIGN float edge[A * P];
    for (int tileIndex = t.t0; tileIndex < t.t1; ++tileIndex) {
        const int iy = tileIndex / t.tilesW * t.stepH - t.padTop;
        const int ix = tileIndex % t.tilesW * t.stepW - t.padLeft;
        const int first = t.columns ? iy : ix;
        const float* src = t.src + (ptrdiff_t(iy - t.firstRow) * t.iw + ix) * P;
        ptrdiff_t step = stride;
        if (first < 0 || first + A > extent) {
            HWY_UNROLL(1)
            for (int i = 0; i < A; ++i) {
                const bool inside = first + i >= 0 && first + i < extent;
                hn::Store(inside ? hn::LoadU(d, src + i * stride) : hn::Zero(d), d, edge + i * P);
            }
            src = edge;
            step = P;
        }
        V in[A], out[A];
        HWY_UNROLL(8)
        for (int i = 0; i < A; ++i) in[i] = hn::LoadU(d, src + i * step);
        Line::apply(d, in, out);
        float* dst = t.dst + ptrdiff_t(tileIndex - t.t0) * P;
        HWY_UNROLL(8)
        for (int i = 0; i < A; ++i, dst = nextAddress(dst, t.pointStride)) hn::StoreU(out[i], d, dst);
    }
}

// The bias of outputs, and their limits.
struct Epilogue {
    V bias, lo, hi;
    bool plain;  // there is no activation
};
HWY_INLINE Epilogue epilogueOf(D d, const WinogradOut& t) {
    return {hn::LoadU(d, t.bias), hn::Set(d, t.lo), hn::Set(d, t.hi), t.act == Act::None};
}

HWY_INLINE void storeOutput(D d, const WinogradOut& t, const Epilogue& e, V out, ptrdiff_t at) {
    V v = hn::Add(out, e.bias);
    if (t.residual) v = hn::Add(v, hn::LoadU(d, t.residual + at));
    if (e.plain) v = limit::clamp(v, e.lo, e.hi);
    hn::StoreU(v, d, t.dst + at);
}

// Activates `count` pixels that are stored.
HWY_INLINE void activatePixels(const WinogradOut& t, ptrdiff_t at, int count) {
    if (t.pixel == P) return activate(t.dst + at, size_t(count) * P, t.act, t.lo, t.hi);
    for (int i = 0; i < count; ++i) activate(t.dst + at + i * t.pixel, size_t{P}, t.act, t.lo, t.hi);
}

template <class Line>
void winogradOutF32(const WinogradOut& args) {
    constexpr int M = Line::M, A = Line::A;
    const D d;
    const WinogradOut t = args;  // as above
    const Epilogue epilogue = epilogueOf(d, t);
    HWY_ALIGN float middle[M * A * P];
    for (int tileIndex = t.t0; tileIndex < t.t1; ++tileIndex) {
        const int oy = tileIndex / t.tilesW * M, ox = tileIndex % t.tilesW * M;
        const float* src = t.src + ptrdiff_t(tileIndex - t.t0) * P;
        for (int x = 0; x < A; ++x, src += t.pointStride) {
            V in[A], out[M];
            const float* from = src;
            HWY_UNROLL(8)
            for (int y = 0; y < A; ++y, from = nextAddress(from, A * t.pointStride)) in[y] = hn::LoadU(d, from);
            Line::apply(d, in, out);
            HWY_UNROLL(8)
            for (int y = 0; y < M; ++y) hn::Store(out[y], d, middle + (y * A + x) * P);
        }
        const int rows = std::min(M, t.oh - oy), columns = std::min(M, t.ow - ox);
        const int top = std::max(0, t.firstRow - oy), left = std::max(0, t.firstColumn - ox);
        for (int y = top; y < rows && left < columns; ++y) {
            V in[A], out[M];
            HWY_UNROLL(8)
            for (int x = 0; x < A; ++x) in[x] = hn::Load(d, middle + (y * A + x) * P);
            Line::apply(d, in, out);
            const ptrdiff_t at = (oy + y) * t.row + ox * t.pixel;
            HWY_UNROLL(8)
            for (int x = 0; x < M; ++x) {
                if (x >= columns) break;
                if (x >= left) storeOutput(d, t, epilogue, out[x], at + x * t.pixel);
            }
            if (!epilogue.plain) activatePixels(t, at + left * t.pixel, columns - left);
        }
    }
}

// Does the same along one axis.
template <class Line>
void winogradLineOutF32(const WinogradOut& args) {
    constexpr int M = Line::M, A = Line::A;
    const D d;
    const WinogradOut t = args;
    const Epilogue epilogue = epilogueOf(d, t);
    const ptrdiff_t step = t.columns ? t.row : t.pixel;
    for (int tileIndex = t.t0; tileIndex < t.t1; ++tileIndex) {
        const int oy = tileIndex / t.tilesW * (t.columns ? M : 1), ox = tileIndex % t.tilesW * (t.columns ? 1 : M);
        // The other axis has a tile for each pixel.
        if (t.columns ? ox < t.firstColumn || ox >= t.ow : oy < t.firstRow || oy >= t.oh) continue;
        V in[A], out[M];
        const float* from = t.src + ptrdiff_t(tileIndex - t.t0) * P;
        HWY_UNROLL(8)
        for (int i = 0; i < A; ++i, from = nextAddress(from, t.pointStride)) in[i] = hn::LoadU(d, from);
        Line::apply(d, in, out);
        // The loop is not unrolled: that would triple the code for a small part of the time.
        const int first = std::max(0, t.columns ? t.firstRow - oy : t.firstColumn - ox);
        const int count = std::min(M, t.columns ? t.oh - oy : t.ow - ox);
        const ptrdiff_t at = oy * t.row + ox * t.pixel;
        HWY_UNROLL(1)
        for (int i = first; i < count; ++i) {
            storeOutput(d, t, epilogue, out[i], at + i * step);
            if (!epilogue.plain) activate(t.dst + at + i * step, size_t{P}, t.act, t.lo, t.hi);
        }
    }
}

template <class Line>
void winogradWeightF32(const float* g, float* u, ptrdiff_t pointStride) {
    constexpr int K = Line::K, A = Line::A;
    const D d;
    V middle[A][K];
    for (int x = 0; x < K; ++x) {
        V in[K], out[A];
        for (int y = 0; y < K; ++y) in[y] = hn::LoadU(d, g + (y * K + x) * P);
        Line::apply(d, in, out);
        for (int y = 0; y < A; ++y) middle[y][x] = out[y];
    }
    for (int y = 0; y < A; ++y) {
        V out[A];
        Line::apply(d, middle[y], out);
        for (int x = 0; x < A; ++x) hn::StoreU(out[x], d, u + (y * A + x) * pointStride);
    }
}

template <class Line>
void winogradLineWeightF32(const float* g, float* u, ptrdiff_t pointStride) {
    constexpr int K = Line::K, A = Line::A;
    const D d;
    V in[K], out[A];
    for (int i = 0; i < K; ++i) in[i] = hn::LoadU(d, g + i * P);
    Line::apply(d, in, out);
    for (int i = 0; i < A; ++i) hn::StoreU(out[i], d, u + i * pointStride);
}

// Multiplies R tiles. The weights are in registers.
template <int R>
HWY_INLINE void multiplyTiles(D d, const V (&w)[P], const float* v, float* y) {
    V sum[R];
    HWY_UNROLL(8)
    for (int r = 0; r < R; ++r) sum[r] = hn::Zero(d);
    HWY_UNROLL(16)
    for (int c = 0; c < P; ++c) {
        HWY_UNROLL(8)
        for (int r = 0; r < R; ++r) sum[r] = hn::MulAdd(hn::Set(d, v[r * P + c]), w[c], sum[r]);
    }
    HWY_UNROLL(8)
    for (int r = 0; r < R; ++r) hn::StoreU(sum[r], d, y + r * P);
}

void multiplyBlockF32(const float* v, const float* w, const float* ahead, float* y, ptrdiff_t tiles) {
    constexpr int kTogether = 4, kLine = 16;
    const D d;
    HWY_UNROLL(16)
    for (int i = 0; i < P * P; i += kLine) hwy::Prefetch(ahead + i);
    V weights[P];
    HWY_UNROLL(16)
    for (int c = 0; c < P; ++c) weights[c] = hn::LoadU(d, w + c * P);
    for (; tiles >= kTogether; tiles -= kTogether, v += kTogether * P, y += kTogether * P)
        multiplyTiles<kTogether>(d, weights, v, y);
    for (; tiles > 0; --tiles, v += P, y += P) multiplyTiles<1>(d, weights, v, y);
}

template <int M, int K, class In = LineInput<M + K - 1>, class Out = LineOutput<M, K>,
          class Weights = LineWeights<M, K>>
constexpr WinogradTransforms bothAxes(int stride = 1) {
    return {M, K, stride, true, &winogradInF32<In>, &winogradOutF32<Out>, &winogradWeightF32<Weights>};
}
template <int M, int K, class In = LineInput<M + K - 1>, class Out = LineOutput<M, K>,
          class Weights = LineWeights<M, K>>
constexpr WinogradTransforms oneAxis(int stride = 1) {
    return {M, K, stride, false, &winogradLineInF32<In>, &winogradLineOutF32<Out>, &winogradLineWeightF32<Weights>};
}
template <int M, int K>
constexpr WinogradTransforms stridedBothAxes() {
    return bothAxes<M, K, StridedLineInput<M, K>, StridedLineOutput<M, K>, StridedLineWeights<M, K>>(2);
}
template <int M, int K>
constexpr WinogradTransforms stridedOneAxis() {
    return oneAxis<M, K, StridedLineInput<M, K>, StridedLineOutput<M, K>, StridedLineWeights<M, K>>(2);
}

}  // namespace

const WinogradKernels& winogradKernelsTable() {
    static constexpr WinogradKernels table = {
        {bothAxes<2, 3>(), bothAxes<4, 3>(), bothAxes<6, 3>(), bothAxes<4, 5>(), bothAxes<2, 2>(), bothAxes<4, 2>(),
         oneAxis<4, 3>(), oneAxis<6, 3>(), oneAxis<4, 5>(), oneAxis<2, 7>(), stridedBothAxes<2, 3>(),
         stridedBothAxes<2, 4>(), stridedBothAxes<2, 5>(), stridedOneAxis<4, 3>()},
        &multiplyBlockF32};
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
