// The transforms of exact Winograd convolutions of int8, F(4x4, 3x3) over integers.
//
// The points are 0, 1, -1, 2, -2 and infinity. The transform of the weights omits its denominators, so that all three
// transforms are of integers; the sums are then the results times 9 and a power of two, modulo 2^32. A product with the
// inverse of 9 and a shift give the results exactly: int8_winograd.h states how large they may be.
#include "backends/cpu/kernels/int8/int8_winograd.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/next_address.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/int8/int8_winograd_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/int8/int8_tile-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
#if HWY_TARGET == HWY_EMU128  // transforms without vectors take 100 KB of code
const Int8WinogradTransforms* int8WinogradTable() {
    return nullptr;
}
#else
namespace {

constexpr int A = kInt8WinogradTile;      // of inputs
constexpr int M = kInt8WinogradTile - 2;  // of outputs
using DW = hn::Repartition<int16_t, DI>;
using VW = hn::Vec<DW>;
using DCodes = hn::Rebind<int8_t, DW>;  // as many codes as VW has numbers: two blocks

HWY_INLINE VW add(VW a, VW b) {
    return hn::Add(a, b);
}
HWY_INLINE VW sub(VW a, VW b) {
    return hn::Sub(a, b);
}

// Codes grow up to tenfold in each direction: they stay within 12800.
HWY_INLINE void inputLine(const VW (&d)[A], VW (&out)[A]) {
    const VW a = sub(d[4], hn::ShiftLeft<2>(d[2])), b = sub(d[3], hn::ShiftLeft<2>(d[1]));
    const VW c = sub(d[4], d[2]), half = sub(d[3], d[1]), e = add(half, half);
    out[0] = add(hn::ShiftLeft<2>(sub(d[0], d[2])), c);
    out[1] = add(a, b);
    out[2] = sub(a, b);
    out[3] = add(c, e);
    out[4] = sub(c, e);
    out[5] = sub(sub(d[5], d[3]), add(e, e));
}

// Codes grow up to sevenfold in each direction: they stay within 6272.
HWY_INLINE void weightLine(const VW (&g)[3], VW (&out)[A]) {
    const VW zero = hn::Zero(DW()), ends = add(g[0], g[2]), far = add(g[0], hn::ShiftLeft<2>(g[2]));
    const VW twice = add(g[1], g[1]);
    out[0] = add(hn::ShiftLeft<2>(g[0]), add(g[0], g[0]));
    out[1] = sub(zero, add(ends, g[1]));
    out[2] = sub(g[1], ends);
    out[3] = add(far, twice);
    out[4] = sub(far, twice);
    out[5] = add(hn::ShiftLeft<2>(g[2]), add(g[2], g[2]));
}

// Computes the results times 24, 12, 6 and 6.
HWY_INLINE void outputLine(const VI (&m)[A], VI (&out)[M]) {
    const VI sum1 = hn::Add(m[1], m[2]), sum2 = hn::Add(m[3], m[4]);
    const VI diff1 = hn::Sub(m[1], m[2]), diff2 = hn::Sub(m[3], m[4]);
    out[0] = hn::Add(hn::Add(m[0], hn::ShiftLeft<2>(sum1)), sum2);
    out[1] = hn::Add(hn::Add(diff1, diff1), diff2);
    out[2] = hn::Add(sum1, sum2);
    out[3] = hn::Add(hn::Add(diff1, hn::Add(diff2, diff2)), m[5]);
}

// The exponent of the power of two in the factor of each result of a line.
constexpr int kPower[M] = {3, 2, 1, 1};
constexpr int32_t kInverseOf9 = 0x38E38E39;

HWY_INLINE VW loadTwo(const int8_t* first, ptrdiff_t apart) {
    const DCodes d;
    const hn::Half<DCodes> half;
    return hn::PromoteTo(DW(), hn::Combine(d, hn::LoadU(half, first + apart), hn::LoadU(half, first)));
}

// Copies the patch of a tile that is not inside of the map, for both blocks.
void copyPatch(const Int8WinogradInput& t, int iy, int ix, int8_t* patch) {
    std::memset(patch, t.padding, 2 * A * A * P);
    const int x0 = std::clamp(-ix, 0, A), x1 = std::clamp(t.iw - ix, x0, A);
    for (int block = 0; block < 2; ++block)
        for (int y = std::clamp(-iy, 0, A); y < std::clamp(t.ih - iy, 0, A) && x0 < x1; ++y)
            std::memcpy(patch + ((block * A + y) * A + x0) * P,
                        t.src + block * t.blockStride + (ptrdiff_t(iy + y) * t.iw + ix + x0) * P,
                        static_cast<size_t>(x1 - x0) * P);
}

void inputTiles(const Int8WinogradInput& args) {
    const DW d;
    const Int8WinogradInput t = args;  // a copy, because the compiler must assume that stores change the arguments
    HWY_ALIGN int8_t patch[2 * A * A * P];
    for (int tile = t.t0; tile < t.t1; ++tile) {
        const int iy = tile / t.tilesW * M - t.padTop, ix = tile % t.tilesW * M - t.padLeft;
        const int8_t* src = patch;
        ptrdiff_t row = A * P, block = A * A * P;
        if (iy < 0 || ix < 0 || iy + A > t.ih || ix + A > t.iw) {
            copyPatch(t, iy, ix, patch);
        } else {
            src = t.src + (ptrdiff_t(iy) * t.iw + ix) * P;
            row = ptrdiff_t(t.iw) * P;
            block = t.blockStride;
        }
        VW middle[A][A];
        HWY_UNROLL(6)
        for (int x = 0; x < A; ++x) {
            VW in[A], out[A];
            HWY_UNROLL(6)
            for (int y = 0; y < A; ++y) in[y] = loadTwo(src + y * row + x * P, block);
            inputLine(in, out);
            HWY_UNROLL(6)
            for (int y = 0; y < A; ++y) middle[y][x] = out[y];
        }
        int16_t* dst = t.dst + ptrdiff_t(tile - t.t0) * 2 * P;
        HWY_UNROLL(6)
        for (int y = 0; y < A; ++y) {
            VW out[A];
            inputLine(middle[y], out);
            HWY_UNROLL(6)
            for (int x = 0; x < A; ++x, dst = nextAddress(dst, t.pointStride)) hn::StoreU(out[x], d, dst);
        }
    }
}

void weightSteps(const Int8WinogradWeights& args) {
    const DW d;
    const Int8WinogradWeights t = args;
    const int8_t* codes = t.codes;
    for (int step = 0; step < t.steps; ++step, codes += 9 * 2 * P) {
        int16_t* dst = t.dst + step * t.stepStride;
        VW middle[A][3];
        HWY_UNROLL(3)
        for (int x = 0; x < 3; ++x) {
            VW in[3], out[A];
            HWY_UNROLL(3)
            for (int y = 0; y < 3; ++y) in[y] = hn::PromoteTo(d, hn::LoadU(DCodes(), codes + (y * 3 + x) * 2 * P));
            weightLine(in, out);
            HWY_UNROLL(6)
            for (int y = 0; y < A; ++y) middle[y][x] = out[y];
        }
        HWY_UNROLL(6)
        for (int y = 0; y < A; ++y) {
            VW out[A];
            weightLine(middle[y], out);
            HWY_UNROLL(6)
            for (int x = 0; x < A; ++x, dst = nextAddress(dst, t.pointStride)) hn::StoreU(out[x], d, dst);
        }
    }
}

template <int Y, int X>
HWY_INLINE void divide(VI (&sums)[M][M]) {
    if constexpr (Y < M) {
        sums[Y][X] = hn::ShiftRight<kPower[Y] + kPower[X]>(hn::Mul(sums[Y][X], hn::Set(DI(), kInverseOf9)));
        divide<Y + (X + 1) / M, (X + 1) % M>(sums);
    }
}

// Computes the sums of signed codes of a tile, [y][x].
HWY_INLINE void outputTile(const int32_t* src, ptrdiff_t point, VI (&sums)[M][M]) {
    VI middle[M][A];
    HWY_UNROLL(6)
    for (int x = 0; x < A; ++x) {
        VI in[A], out[M];
        const int32_t* from = src + x * point;
        HWY_UNROLL(6)
        for (int y = 0; y < A; ++y, from = nextAddress(from, A * point)) in[y] = hn::LoadU(DI(), from);
        outputLine(in, out);
        HWY_UNROLL(4)
        for (int y = 0; y < M; ++y) middle[y][x] = out[y];
    }
    HWY_UNROLL(4)
    for (int y = 0; y < M; ++y) outputLine(middle[y], sums[y]);
    divide<0, 0>(sums);
}

// Finishes the first `count` results of a line, fewer than it has.
void finishSome(const VI (&line)[M][1], const Int8PanelArgs& row, int at, int count) {
    HWY_ALIGN int8_t codes[M * P];
    HWY_ALIGN float floats[M * P];
    HWY_ALIGN int32_t sums[M * P];
    Int8PanelArgs all = row;
    all.dst = codes;
    all.floats = row.floats ? floats : nullptr;
    all.sums = row.sums ? sums : nullptr;
    finishTile<Product::Vnni>(line, all, all, 0);
    const ptrdiff_t to = ptrdiff_t(at) * P;
    const auto wanted = static_cast<size_t>(count) * P;
    if (row.sums)
        std::memcpy(row.sums + to, sums, wanted * sizeof(int32_t));
    else if (row.floats)
        std::memcpy(row.floats + to, floats, wanted * sizeof(float));
    else
        std::memcpy(row.dst + to, codes, wanted);
}

void outputTiles(const Int8WinogradOutput& args) {
    const DI d;
    const Int8WinogradOutput t = args;
    const VI first = hn::LoadU(d, t.first);
    const Int8PanelArgs post = *t.post;
    for (int tile = t.t0; tile < t.t1; ++tile) {
        const int oy = tile / t.tilesW * M, ox = tile % t.tilesW * M;
        const int32_t* src = t.src + ptrdiff_t(tile - t.t0) * P;
        VI sums[M][M];
        outputTile(src, t.pointStride, sums);
        for (int part = 1; part < t.parts; ++part) {
            VI more[M][M];
            outputTile(src + part * t.partStride, t.pointStride, more);
            for (int y = 0; y < M; ++y)
                for (int x = 0; x < M; ++x) sums[y][x] = hn::Add(sums[y][x], more[y][x]);
        }
        const int rows = std::min(M, t.oh - oy), count = std::min(M, t.ow - ox);
        for (int y = 0; y < rows; ++y) {
            const int at = (oy + y) * t.ow + ox;
            VI line[M][1];
            HWY_UNROLL(4)
            for (int x = 0; x < M; ++x) line[x][0] = hn::Add(sums[y][x], first);
            if (HWY_LIKELY(count == M))
                finishTile<Product::Vnni>(line, post, *t.post, at);
            else
                finishSome(line, *t.post, at, count);
        }
    }
}

}  // namespace

const Int8WinogradTransforms* int8WinogradTable() {
    static constexpr Int8WinogradTransforms table = {&inputTiles, &weightSteps, &outputTiles};
    return &table;
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const Int8WinogradTransforms* int8WinogradTransforms(Isa isa) {
    MNNC_SELECT(isa, int8WinogradTable)
}
}  // namespace mnnc
#endif
