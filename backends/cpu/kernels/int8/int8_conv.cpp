// Chooses the plan of a dense int8 convolution: both plans give the same bits.
#include "backends/cpu/kernels/int8/int8_conv.h"

#include <algorithm>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/gemm/panels.h"
#include "backends/cpu/kernels/int8/int8_tiles.h"
#include "backends/cpu/kernels/int8/int8_winograd.h"

namespace mnnc {
namespace {

double directCycles(const CycleCosts& costs, const Int8Kernels& k, const ConvShape& s) {
    const TileCosts tile = int8Tiles(costs, k, costs.tile.weight);
    const int blocks = ceilDiv(s.oc, k.lanes), perStep = 4 / k.unit;
    return double(s.batch) * s.oh * kInt8WinogradTaps * ceilDiv(s.ic, perStep) *
           gemmCycles(tile, k.maxRows, s.ow, blocks, bestPanelBlocks(tile, k, s.ow, blocks));
}

double winogradCycles(const CycleCosts& costs, const Int8Kernels& k, const ConvShape& s) {
    const TileCosts tile = int8Tiles(costs, k, costs.tile.weight);
    const int blocks = ceilDiv(s.oc, k.lanes), steps = ceilDiv(s.ic, 2);
    const int tiles = s.batch * ceilDiv(s.oh, kInt8WinogradOutputs) * ceilDiv(s.ow, kInt8WinogradOutputs);
    const int m = std::min(tiles, kUsualPixels);
    return double(tiles) / m * kInt8WinogradPoints * steps *
               gemmCycles(tile, k.pairSums->maxRows, m, blocks, bestPanelBlocks(tile, *k.pairSums, m, blocks)) +
           tiles * (costs.int8WinogradIn * ceilDiv(s.ic, k.lanes) + costs.int8WinogradOut * blocks) +
           costs.int8WinogradWeights * steps * blocks;
}

}  // namespace

const Int8Kernels& int8DenseKernels(const Kernels& k, const ConvShape& s, const Int8ConvOptions& options) {
    const bool widens = k.int8->unit == 2, first = options.groups == 1 && s.ic <= 4;
    const Int8Kernels* bytes =
        options.nonNegative && widens && !first ? int8Kernels(k.id, Int8Product::Bytes) : nullptr;
    return bytes ? *bytes : *k.int8;
}

std::unique_ptr<Int8SumPlan> makeInt8ConvPlan(const Kernels& k, const ConvShape& shape,
                                              const Int8ConvOptions& options) {
    const CycleCosts& costs = k.costs->cycles;
    if (int8WinogradAccepts(k, shape, options) &&
        winogradCycles(costs, *k.int8, shape) <
            costs.contest * directCycles(costs, int8DenseKernels(k, shape, options), shape))
        return makeInt8WinogradPlan(k, shape);
    return makeInt8DensePlan(k, shape, options);
}

}  // namespace mnnc
