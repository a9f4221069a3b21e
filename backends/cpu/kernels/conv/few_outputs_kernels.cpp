// Products with a few outputs: vectors of input channels are multiplied by vectors of weights, and their lanes are
// added up at the end. With vectors of outputs most lanes would be multiplied for nothing.
#include "backends/cpu/kernels/conv/few_outputs.h"

#include <algorithm>

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/conv/few_outputs_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/gemm/panel_tile-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// The registers hold the sums, the weights of each output and one input.
#if HWY_TARGET == HWY_EMU128
constexpr int kFewRows[5] = {0, 4, 2, 2, 1};
#else
constexpr bool k32Registers = P == 16 || HWY_ARCH_ARM_A64;
constexpr int kFewRows[5] = {0, k32Registers ? 12 : 10, k32Registers ? 12 : 5, k32Registers ? 8 : 3,
                             k32Registers ? 6 : 2};
#endif
constexpr int kPixels = 48;  // pixels whose sums wait for the epilogue

template <int R, int O>
HWY_INLINE void addBlock(V (&acc)[R][O], const float* p, ptrdiff_t s, const float* w, size_t lanes) {
    const D d;
    const float* q[(R + 2) / 3];
    rowPointers<R>(q, p, s);
    V b[O];
    HWY_UNROLL(4)
    for (int o = 0; o < O; ++o) b[o] = hn::LoadU(d, w + o * P);
    HWY_UNROLL(12)
    for (int r = 0; r < R; ++r) {
        V x = hn::LoadU(d, q[r / 3] + (r % 3) * s);
        if (lanes < kLanes) x = hn::IfThenElseZero(hn::FirstN(d, lanes), x);  // the lanes behind may hold anything
        HWY_UNROLL(4)
        for (int o = 0; o < O; ++o) acc[r][o] = hn::MulAdd(x, b[o], acc[r][o]);
    }
}

template <int R, int O>
HWY_NOINLINE void fewOutputsTileF32(const PanelArgs& t, const float* a, float* sums) {
    const D d;
    V acc[R][O];
    HWY_UNROLL(12)
    for (int r = 0; r < R; ++r) {
        HWY_UNROLL(4)
        for (int o = 0; o < O; ++o) acc[r][o] = hn::Zero(d);
    }
    const ptrdiff_t s = t.pixelStride, step = ptrdiff_t(O) * P, run = (t.fullBlocks + (t.tail > 0)) * step;
    const float* w = t.w;
    for (int tap = 0; tap < t.taps; ++tap) {
        if (t.tapRun) w = t.w + t.tapRun[tap] * run;
        const float* p = a + t.tapOffset[tap];
        for (int block = 0; block < t.fullBlocks; ++block, p += t.blockStride, w += step)
            addBlock<R, O>(acc, p, s, w, kLanes);
        if (t.tail) {
            addBlock<R, O>(acc, p, s, w, static_cast<size_t>(t.tail));
            w += step;
        }
    }
    HWY_UNROLL(12)
    for (int r = 0; r < R; ++r) {
        HWY_UNROLL(4)
        for (int o = 0; o < O; ++o) sums[r * O + o] = hn::GetLane(hn::SumOfLanes(d, acc[r][o]));
    }
}

constexpr auto kTiles = makeTiles<kFewRows>([]<int R, int O>() { return &fewOutputsTileF32<R, O>; });

void fewOutputsF32(const PanelArgs& t, void (*finish)(float*, size_t, Act, float, float)) {
    HWY_ALIGN float sums[kPixels * FewOutputsKernels::kMaxOutputs];
    const int outputs = t.nb;
    for (int begin = 0; begin < t.m; begin += kPixels) {
        const int count = std::min(kPixels, t.m - begin);
        const float* a = t.a + begin * t.pixelStride;
        forEqualTiles(count, kFewRows[outputs], [&](int at, int rows) {
            kTiles.fn[outputs - 1][rows - 1](t, a + at * t.pixelStride, sums + at * outputs);
        });
        for (int i = 0; i < count; ++i) {
            const ptrdiff_t at = (begin + i) * t.dstPixelStride;
            for (int o = 0; o < outputs; ++o)
                sums[i * outputs + o] += t.residual ? t.bias[o] + t.residual[at + o] : t.bias[o];
        }
        finish(sums, static_cast<size_t>(count) * outputs, t.act, t.lo, t.hi);
        for (int i = 0; i < count; ++i)
            std::copy_n(sums + i * outputs, outputs, t.dst + (begin + i) * t.dstPixelStride);
    }
}

}  // namespace

const FewOutputsKernels& fewOutputsTable() {
    static constexpr FewOutputsKernels table = {
        {0, kFewRows[1], kFewRows[2], kFewRows[3], kFewRows[4]},
        &fewOutputsF32,
    };
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const FewOutputsKernels& fewOutputsKernels(Isa isa) {
    MNNC_SELECT(isa, fewOutputsTable)
}
}  // namespace mnnc
#endif
