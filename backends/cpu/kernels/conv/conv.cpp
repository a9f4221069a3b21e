// Checks a convolution's shape and chooses the implementation for it.
#include "backends/cpu/kernels/conv/conv.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "base/error.h"

namespace mnnc {
namespace {

// Special kinds come before general ones. W8A16 comes before those that would expand its weights: it accepts only
// shapes for which it is faster.
constexpr const ConvImplementation* kImplementations[] = {
    &kDepthwiseConv,
    &kW8A16Conv,
    &kGroupedPlanesConv,
    &kFirstLayerConv,
    &kPointwiseConv,
    &kDeconvolution,
    &kPhasedConv,
    &kDirectConv,
    &kClippedConv,
    &kFewOutputsConv,
    &kDilatedConv,
    &kSeparateGroupsConv,
    &kWinograd2Conv,
    &kWinograd4Conv,
    &kWinograd6Conv,
    &kWinograd2Of2x2Conv,
    &kWinograd4Of2x2Conv,
    &kWinograd5x5Conv,
    &kWinograd4Of1x3Conv,
    &kWinograd6Of1x3Conv,
    &kWinograd1x5Conv,
    &kWinograd1x7Conv,
    &kWinograd4Of3x1Conv,
    &kWinograd6Of3x1Conv,
    &kWinograd5x1Conv,
    &kWinograd7x1Conv,
    &kStridedWinogradConv,
    &kStridedWinograd4x4Conv,
    &kStridedWinograd5x5Conv,
    &kStridedWinograd1x3Conv,
    &kStridedWinograd3x1Conv,
};

void checkShape(const ConvShape& s, int groups) {
    const int smallest = std::min(
        {s.batch, s.ic, s.ih, s.iw, s.oc, s.oh, s.ow, s.kh, s.kw, s.strideH, s.strideW, s.dilateH, s.dilateW, groups});
    if (smallest < 1) fail(Status::InvalidValue, "convolution has an extent below 1");
    if (s.ic % groups != 0 || s.oc % groups != 0) {
        fail(Status::InvalidValue, "convolution of %d to %d channels does not divide into %d groups", s.ic, s.oc,
             groups);
    }
}

// A map that is one pixel wide lies in memory like a map that is one pixel high, whose rows make long products.
ConvShape asRow(ConvShape s) {
    if (s.iw != 1 || s.ow != 1 || s.kw != 1 || s.padLeft != 0) return s;
    std::swap(s.ih, s.iw);
    std::swap(s.oh, s.ow);
    std::swap(s.kh, s.kw);
    std::swap(s.strideH, s.strideW);
    std::swap(s.dilateH, s.dilateW);
    std::swap(s.padTop, s.padLeft);
    return s;
}

// Calls visit(implementation, cycles) for each implementation that accepts. Returns the one to take, or null.
template <typename Visit>
const ConvImplementation* choose(const Kernels& k, const ConvShape& s, const ConvOptions& options, Visit&& visit) {
    checkShape(s, options.groups);
    const ConvImplementation* best = nullptr;
    double bestCycles = 0;
    for (const ConvImplementation* each : kImplementations) {
        if (!each->accepts(k, s, options) || (options.dstRowMajor && each != &kPointwiseConv)) continue;
        const double cycles = each->cycles(k, s, options);
        visit(*each, cycles);
        const bool named = options.algorithm != ConvAlgorithm::Auto;
        if (best && !(each->contests && (named || cycles < bestCycles * k.costs->cycles.contest))) continue;
        best = each;
        bestCycles = cycles;
    }
    return best;
}

}  // namespace

std::span<const ConvImplementation* const> convImplementations() {
    return kImplementations;
}

bool isFullyConnected(const ConvShape& s, const ConvOptions& options) {
    const auto isOne = [](int extent) { return extent == 1; };
    const int extents[] = {s.ih, s.iw, s.oh, s.ow, s.kh, s.kw};
    return std::all_of(std::begin(extents), std::end(extents), isOne) && s.padTop == 0 && s.padLeft == 0 &&
           options.groups == 1 && !options.transposed && !options.bf16 && options.quantization.bits == 0;
}

bool convReadsNchw(const ConvShape& s, const ConvOptions& options) {
    return isFullyConnected(s, options) || (options.groups == 1 && s.ic <= 4);
}

bool convWritesRowMajor(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return isFullyConnected(s, options) && s.oc % k.lanes != 0;
}

const ConvImplementation& chooseConv(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    const ConvImplementation* best = choose(k, s, options, [](const ConvImplementation&, double) {});
    if (!best) fail(Status::NotSupported, "no convolution kernel reads this shape row-major");
    return *best;
}

ConvShape plannedShape(const ConvShape& s, const ConvOptions& options) {
    return options.byRows ? s : asRow(s);
}

std::unique_ptr<ConvPlan> makeConvPlan(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    const ConvShape shape = plannedShape(s, options);
    return chooseConv(k, shape, options).make(k, shape, options);
}

std::vector<ConvCandidate> convCandidates(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    std::vector<ConvCandidate> out;
    const ConvImplementation* best =
        choose(k, plannedShape(s, options), options, [&](const ConvImplementation& each, double cycles) {
            out.push_back({&each, each.name, cycles, false});
        });
    for (ConvCandidate& candidate : out) candidate.chosen = candidate.name == best->name;
    return out;
}

void ConvPlan::packWeights(const WeightReader& weights, void* packed, ThreadPool& pool) const {
    const FloatWeightPacker* packer = floatPacker();
    if (!packer) fail(Status::Internal, "%s keeps its weights quantised and packs no floats", algorithm().c_str());
    packer->packFloats(weights, packed, pool);
}

void ConvPlan::packWeights(const float* weights, void* packed, ThreadPool& pool) const {
    packWeights([weights](size_t first, size_t) { return weights + first; }, packed, pool);
}

}  // namespace mnnc
