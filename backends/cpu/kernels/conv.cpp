// Checks a convolution's shape and chooses the plan for it.
#include "backends/cpu/kernels/conv.h"

#include <algorithm>

#include "backends/cpu/kernels/conv_plans.h"
#include "backends/cpu/kernels/grouped_planes_conv.h"
#include "backends/cpu/kernels/panels.h"
#include "base/error.h"

namespace mnnc {
namespace {

void checkShape(const ConvShape& s, int groups) {
    const int least = std::min({s.batch, s.ic, s.ih, s.iw, s.oc, s.oh, s.ow, s.kh, s.kw, s.strideH, s.strideW,
                                s.dilateH, s.dilateW, groups});
    if (least < 1) fail(Status::InvalidValue, "convolution with an extent below 1");
    if (s.ic % groups != 0 || s.oc % groups != 0) {
        fail(Status::InvalidValue, "convolution of %d to %d channels does not divide into %d groups", s.ic,
             s.oc, groups);
    }
}

// The transforms of larger tiles multiply the rounding of bf16. Measured on whole nets: F(2,3) is as exact as a
// direct product, F(4,3) has 3 to 7 times its error, F(6,3) 7 to 20 times.
constexpr int kBf16Units = 2;

// Of products of rounded numbers, bf16 or 16-bit integers. Where sums are short there is little to gain, because
// reading and writing bounds them, and much to lose: the first layers' rounding goes through the whole net.
// Measured on nets with linear bottlenecks.
constexpr int kMinRoundedTerms = 97;

// Weights come from memory once per run, at so many bytes a cycle; products hide little of it. Measured on whole
// nets, like the other constants here.
constexpr double kWeightBytesPerCycle = 9.5;
double withTraffic(double cycles, double bytes) {
    const double traffic = bytes / kWeightBytesPerCycle;
    return std::max(cycles, traffic) + 0.8 * std::min(cycles, traffic);
}

// bf16: half the steps, half the bytes, and the source is rounded.
double directCycles(const Kernels& k, const ConvShape& s, bool bf16, bool codes) {
    const int blocks = ceilDiv(s.oc, k.lanes);
    const int nb = bestPanelBlocks(*k.panels, s.ow, blocks);
    const double steps = double(s.kh) * s.kw * s.ic * (bf16 ? 0.5 : 1.0);
    const double cycles = s.oh * steps * gemmCycles(*k.panels, s.ow, blocks, nb) * 1.05;
    const double copy = double(ceilDiv(s.ic, k.lanes)) * (s.ih + 2) * (s.iw + 2) * 3;
    const double vectors = double(s.kh) * s.kw * s.ic * blocks;
    const double weights =
        codes ? vectors * 2.5 : 1.5 * vectors * k.lanes * (bf16 ? 2 : 4) / kWeightBytesPerCycle;
    return s.batch * (cycles + copy) + weights;
}

// Most bytes of transformed weights that a run may make of quantised ones at once: with several chunks it makes
// all of them first.
constexpr double kMaxExpanded = 4 << 20;

double winogradCycles(const Kernels& k, const ConvShape& s, int unit, bool bf16, bool codes) {
    const int icb = ceilDiv(s.ic, k.lanes), ocb = ceilDiv(s.oc, k.lanes);
    const int tiles = ceilDiv(s.oh, unit) * ceilDiv(s.ow, unit), points = (unit + 2) * (unit + 2);
    const int chunks = winogradChunks(k, s, unit), m = ceilDiv(tiles, chunks);
    const int nb = bestPanelBlocks(*k.panels, std::min(m, 72), ocb);
    const double product =
        points * (double(s.ic) * (bf16 ? 0.5 : 1.0) * gemmCycles(*k.panels, m, ocb, nb) + 50.0 * ocb);
    // Cycles per tile, point and block of channels.
    const double in = unit == 2 ? 8.0 : unit == 4 ? 7.5 : 9.0, out = unit == 2 ? 3.5 : unit == 4 ? 7.0 : 5.0;
    const double transforms = double(tiles) * points * (icb * (in + (bf16 ? 1.5 : 0.0)) + ocb * out);
    const double weights = double(points) * s.ic * ocb * k.lanes * (bf16 ? 2 : 4);
    if (codes) {
        if (chunks * s.batch > 1 && weights > kMaxExpanded) return std::numeric_limits<double>::infinity();
        const double expand = double(points) * s.ic * ocb * (bf16 ? 6.0 : 4.8);
        return s.batch * (chunks * product + transforms) + expand;
    }
    return (s.batch * chunks - 1) * product + s.batch * transforms + withTraffic(product, weights);
}

// Products of int8 codes: half the steps; the source is looked through and rounded.
double w8a16Cycles(const Kernels& k, const ConvShape& s) {
    const int icb = ceilDiv(s.ic, k.lanes), blocks = ceilDiv(s.oc, k.lanes);
    const int nb = bestPanelBlocks(*k.panels, s.ow, blocks);
    const double steps = double(s.kh) * s.kw * s.ic * 0.5;
    const double cycles = s.oh * steps * gemmCycles(*k.panels, s.ow, blocks, nb) * 1.05;
    const double rounding = double(icb) * (s.ih + 2) * (s.iw + 2) * 6;
    const double weights = double(s.kh) * s.kw * s.ic * s.oc;
    return (s.batch - 1) * cycles + s.batch * rounding + withTraffic(cycles, weights);
}

// Products of codes save half the multiply-adds and the expanding of the weights, but round every block of inputs
// and scale every block of outputs. Measured on whole nets.
bool w8a16IsFaster(const Kernels& k, const ConvShape& s) {
    const int icb = ceilDiv(s.ic, k.lanes), ocb = ceilDiv(s.oc, k.lanes);
    const bool point = s.kh * s.kw == 1;
    const double outputs = double(s.batch) * s.oh * s.ow;
    const double inputs = point ? outputs : double(s.batch) * s.ih * s.iw;
    const double terms = double(s.kh) * s.kw * s.ic, vectors = terms * ocb;
    return terms >= kMinRoundedTerms &&
           vectors * (0.25 * outputs + 2.5) > inputs * icb * 7.5 + outputs * (ocb * 4.5 + 8);
}

bool w8a16Accepts(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return k.w8a16 && options.quantization.bits == 8 && options.quantization.blocks == 1 &&
           options.groups == 1 && !options.bf16 && !options.exact && !options.transposed &&
           !options.srcNchw && s.ic > 4 && (options.algorithm != ConvAlgorithm::Auto || w8a16IsFaster(k, s));
}

}  // namespace

bool convReadsNchw(const ConvShape& s, int groups) {
    return groups == 1 && s.ic <= 4;
}

std::unique_ptr<ConvPlan> makeConvPlan(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    checkShape(s, options.groups);
    const bool depthwise = options.groups > 1 && options.groups == s.ic && options.groups == s.oc;
    if (depthwise && !options.srcNchw) return makeDepthwisePlan(k, s, options.transposed);
    const bool winograd = !options.transposed && !options.srcNchw && options.groups == 1 && s.kh == 3 &&
                          s.kw == 3 && s.strideH == 1 && s.strideW == 1 && s.dilateH == 1 && s.dilateW == 1 &&
                          s.ic > 4;
    ConvOptions chosen = options;
    const bool bf16 = options.bf16 && k.bf16 && options.groups == 1 && s.ic > 4 &&
                      int64_t(s.ic) * s.kh * s.kw >= kMinRoundedTerms;
    chosen.bf16 = bf16;
    int unit = 0;
    if (winograd && options.algorithm == ConvAlgorithm::Auto) {
        const bool codes = options.quantization.bits != 0;
        double best = w8a16Accepts(k, s, chosen) ? w8a16Cycles(k, s) : directCycles(k, s, bf16, codes);
        for (int u = 2; u <= 6; u += 2) {
            const bool halves = bf16 && u <= kBf16Units;
            const double cycles = winogradCycles(k, s, u, halves, codes);
            if (cycles < best * 0.97) {
                best = cycles;
                unit = u;
                chosen.bf16 = halves;
            }
        }
    } else if (winograd && options.algorithm != ConvAlgorithm::Direct) {
        unit = options.algorithm == ConvAlgorithm::Winograd2   ? 2
               : options.algorithm == ConvAlgorithm::Winograd4 ? 4
                                                               : 6;
        chosen.bf16 = bf16 && unit <= kBf16Units;
    }
    if (unit) return makeWinogradPlan(k, s, unit, chosen);
    if (w8a16Accepts(k, s, chosen)) return makeW8A16Plan(k, s, chosen);
    if (!options.transposed && !options.srcNchw && groupedOverPlanes(k, s, options.groups))
        return makeGroupedPlan(k, s, options.groups, options.threads);
    return makeGemmConvPlan(k, s, chosen);
}

}  // namespace mnnc
