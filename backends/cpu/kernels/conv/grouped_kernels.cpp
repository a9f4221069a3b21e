// The product for group convolutions of few channels: vectors run along the pixels of planes.
#include <algorithm>
#include <utility>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/tiles.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/conv/grouped_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int P = static_cast<int>(hn::MaxLanes(D()));

// Computes O outputs at N vectors of places.
template <int O, int N>
HWY_NOINLINE void planesTileF32(const GroupedArgs& t, int at) {
    const D d;
    V acc[O][N];
    HWY_UNROLL(8)
    for (int o = 0; o < O; ++o) {
        HWY_UNROLL(8)
        for (int n = 0; n < N; ++n) acc[o][n] = hn::Set(d, t.bias[o]);
    }
    const float* w = t.w;
    const float* plane = t.planes + at;
    for (int c = 0; c < t.channels; ++c, plane += t.channelStride) {
        for (int tap = 0; tap < t.taps; ++tap, w += O) {
            const float* p = plane + t.tapOffset[tap];
            V x[N];
            HWY_UNROLL(8)
            for (int n = 0; n < N; ++n) x[n] = hn::LoadU(d, p + n * P);
            HWY_UNROLL(8)
            for (int o = 0; o < O; ++o) {
                const V weight = hn::Set(d, w[o]);
                HWY_UNROLL(8)
                for (int n = 0; n < N; ++n) acc[o][n] = hn::MulAdd(weight, x[n], acc[o][n]);
            }
        }
    }
    HWY_UNROLL(8)
    for (int o = 0; o < O; ++o) {
        HWY_UNROLL(8)
        for (int n = 0; n < N; ++n) hn::StoreU(acc[o][n], d, t.dst + o * t.dstStride + at + n * P);
    }
}

using TileFn = void (*)(const GroupedArgs&, int);

// N is as large as the registers allow beside the inputs and a weight.
constexpr bool kManyRegisters = P == 16;
constexpr int kMaxOutputs = kManyRegisters ? 8 : 4;
template <int O>
constexpr int kMaxVectors = kManyRegisters ? (O == 8   ? 3
                                              : O == 4 ? 6
                                                       : 8)
                                           : (O == 4   ? 3
                                              : O == 2 ? 5
                                                       : 8);

template <int O, int... N>
constexpr void fillTiles(TileFn* out, std::integer_sequence<int, N...>) {
    ((out[N] = &planesTileF32<O, N + 1>), ...);
}
template <int O>
struct Tiles {
    TileFn fn[kMaxVectors<O>] = {};
    constexpr Tiles() { fillTiles<O>(fn, std::make_integer_sequence<int, kMaxVectors<O>>()); }
};

template <int O>
void planesTilesF32(const GroupedArgs& t) {
    static constexpr Tiles<O> kTiles;
    forEqualTiles(ceilDiv(t.length, P), kMaxVectors<O>,
                  [&](int from, int vectors) { kTiles.fn[vectors - 1](t, from * P); });
}

void planesProductF32(const GroupedArgs& t) {
    switch (t.outputs) {
        case 8:
            if constexpr (kMaxOutputs == 8) planesTilesF32<8>(t);
            break;
        case 4:
            planesTilesF32<4>(t);
            break;
        case 2:
            planesTilesF32<2>(t);
            break;
        default:
            planesTilesF32<1>(t);
            break;
    }
}

}  // namespace

const GroupedKernels& groupedTable() {
    static constexpr GroupedKernels table = {kMaxOutputs, &planesProductF32};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const GroupedKernels& groupedKernels(Isa isa) {
    MNNC_SELECT(isa, groupedTable)
}
}  // namespace mnnc
#endif
