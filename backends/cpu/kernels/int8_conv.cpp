// Which plan a dense int8 convolution gets: the same bits come from both.
#include "backends/cpu/kernels/int8_conv.h"

#include <algorithm>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/int8_winograd.h"
#include "backends/cpu/kernels/panels.h"

namespace mnnc {
namespace {

constexpr int kUnit = kInt8WinogradTile - 2, kTaps = 9;

// Cycles that the transforms take of a vector of a tile's input, of one of pairs of weights, and of one of results: most
// of them for writing and reading the second level cache. Measured.
constexpr double kInput = 80, kWeights = 140, kOutput = 175;

double directCycles(const Int8Kernels& k, const ConvShape& s) {
    const int blocks = ceilDiv(s.oc, k.lanes), perStep = 4 / k.unit;
    return double(s.batch) * s.oh * kTaps * ceilDiv(s.ic, perStep) *
           gemmCycles(k.maxRows, s.ow, blocks, bestPanelBlocks(k, s.ow, blocks));
}

double winogradCycles(const Int8Kernels& k, const ConvShape& s) {
    const int blocks = ceilDiv(s.oc, k.lanes), steps = ceilDiv(s.ic, 2);
    const int tiles = s.batch * ceilDiv(s.oh, kUnit) * ceilDiv(s.ow, kUnit);
    const int m = std::min(tiles, kUsualPixels);
    return double(tiles) / m * kInt8WinogradPoints * steps *
               gemmCycles(k.pairSums->maxRows, m, blocks, bestPanelBlocks(*k.pairSums, m, blocks)) +
           tiles * (kInput * ceilDiv(s.ic, k.lanes) + kOutput * blocks) + kWeights * steps * blocks;
}

}  // namespace

std::unique_ptr<Int8SumPlan> makeInt8ConvPlan(const Kernels& k, const ConvShape& shape,
                                              const Int8ConvOptions& options) {
    if (int8WinogradAccepts(k, shape, options) &&
        winogradCycles(*k.int8, shape) < k.costs->cycles.contest * directCycles(*k.int8, shape))
        return makeInt8WinogradPlan(k, shape);
    return makeInt8DensePlan(k, shape, options);
}

}  // namespace mnnc
