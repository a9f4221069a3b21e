// Estimates of cycles that several implementations of convolutions share.
#include "backends/cpu/kernels/conv/conv_cost.h"

#include <algorithm>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/gemm/panels.h"

namespace mnnc {

bool fillsVectors(const Kernels& k, const ConvShape& s, int groups) {
    return groups == 1 || (s.ic / groups % k.lanes == 0 && s.oc / groups % k.lanes == 0);
}

bool roundsToBf16(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return options.bf16 && k.bf16 && options.groups == 1 && s.ic > 4 && int64_t(s.ic) * s.kh * s.kw >= kMinRoundedTerms;
}

double withTraffic(const Kernels& k, double cycles, double bytes) {
    const double traffic = bytes / k.costs->cycles.weightBytesPerCycle;
    return std::max(cycles, traffic) + k.costs->cycles.exposedTraffic * std::min(cycles, traffic);
}

double spilledCycles(const Kernels& k, double bytes, int pieces, int times) {
    const double beyond = bytes - 4.0 * pieces * static_cast<double>(k.costs->cache.winogradTransforms);
    return std::max(0.0, times * beyond / k.costs->cycles.weightBytesPerCycle);
}

// With bf16 there are half the steps and half the bytes, and the source is rounded first.
double gemmConvCycles(const Kernels& k, const ConvShape& s, const ConvOptions& options, const GemmConvWork& work) {
    const CycleCosts& costs = k.costs->cycles;
    const bool bf16 = roundsToBf16(k, s, options);
    const double channels = double(s.ic) / options.groups;
    const int blocks = ceilDiv(s.oc, k.lanes);
    // Panels have channels of one group where groups have whole blocks.
    const int groups = fillsVectors(k, s, options.groups) ? options.groups : 1, own = blocks / groups;
    const double steps = work.taps * channels * (bf16 ? 0.5 : 1.0);
    const int nb = bestPanelBlocks(k, work.columns, own);
    const double sums = steps * groups * gemmCycles(k, work.columns, own, nb);
    const int panels = ceilDiv(own, nb), width = ceilDiv(own, panels);
    const double tiles = double(groups) * panels * ceilDiv(work.columns, k.panels->maxRows[width]);
    const double cycles =
        work.rows * (sums * costs.gemmOverhead + tiles * work.taps * costs.tap + blocks * costs.winogradCall);
    const double copied = work.copied ? double(ceilDiv(s.ic, k.lanes)) * (s.ih + 2) * (s.iw + 2) : 0.0;
    const double copy = copied * costs.copy + spilledCycles(k, copied * k.lanes * 4, 1, 2);
    const double vectors = double(s.kh) * s.kw * channels * blocks;
    const double weights = options.quantization.bits && options.groups == 1
                               ? vectors * costs.dequantize
                               : costs.rowTraffic * vectors * k.lanes * (bf16 ? 2 : 4) / costs.weightBytesPerCycle;
    return s.batch * (cycles + copy) + weights;
}

}  // namespace mnnc
