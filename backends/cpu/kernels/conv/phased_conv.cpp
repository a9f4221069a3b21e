// Transposed convolutions as dense ones: the outputs of all phases at one place of the input become the channels of a
// convolution, with zeros for the taps that a phase does not read. Three channels with a stride of two make twelve,
// which fill a vector; each phase alone would leave it almost empty. Phases that have whole blocks of channels are
// computed together where Winograd's algorithm takes the convolution: its inverse transform stores each at its place.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/conv/conv_phases.h"
#include "backends/cpu/kernels/conv_packing.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "base/checked.h"

namespace mnnc {
namespace {

// All weights of the dense convolution are in memory before they are packed, so their number is limited.
constexpr int64_t kMaxWeights = 1 << 22;
constexpr int kMaxPlannedPhases = 1 << 10;

// The inputs that the taps of all phases of an axis read: `kernel` of them, beginning `first` places after the output's
// place.
struct Reach {
    int64_t first, kernel;
};
Reach reachOf(int64_t kernel, int64_t stride, int64_t pad) {
    const auto floorDiv = [&](int64_t a) { return a / stride - (a % stride < 0); };
    // Tap k is read by phase (k - pad) mod stride alone, at the place -floor((k - pad) / stride) of the input.
    const int64_t first = -floorDiv(kernel - 1 - pad), last = -floorDiv(-pad);
    return {first, last - first + 1};
}

ConvShape denseShape(const ConvShape& s, const Reach& y, const Reach& x) {
    ConvShape dense;
    dense.batch = s.batch;
    dense.ic = s.ic;
    dense.ih = s.ih;
    dense.iw = s.iw;
    dense.oc = s.oc * s.strideH * s.strideW;
    dense.oh = ceilDiv(s.oh, s.strideH);
    dense.ow = ceilDiv(s.ow, s.strideW);
    dense.kh = static_cast<int>(y.kernel);
    dense.kw = static_cast<int>(x.kernel);
    dense.padTop = static_cast<int>(-y.first);
    dense.padLeft = static_cast<int>(-x.first);
    return dense;
}

ConvOptions denseOptions(const ConvOptions& options) {
    ConvOptions dense;
    dense.threads = options.threads;
    dense.lowMemory = options.lowMemory;
    return dense;
}

// A dense convolution with the phases of `whole`: the transposed convolution, or one with more outputs before its first
// one, which are dropped.
struct Dense {
    ConvShape shape, whole;
    const ConvImplementation& implementation;
    double cycles;
    bool placed;  // outputs are stored at their places, and not copied
};

// Calls body(transposed convolution, dense shape) for the dense convolutions that compute all phases. Their windows are
// smaller where the first output is of the first phase: 2x2, not 3x3, for a 4x4 kernel with a stride of two and one
// pixel of padding. An additional row and column of zeros make a 2x2 kernel a 3x3 one, for which there are more of
// Winograd's forms.
template <typename Body>
void eachDense(const ConvShape& s, Body&& body) {
    const auto phaseOf = [](int pad, int stride) { return (pad % stride + stride) % stride; };  // pads may be negative
    const int down = phaseOf(s.padTop, s.strideH), across = phaseOf(s.padLeft, s.strideW);
    ConvShape first = s;
    first.oh += down;
    first.ow += across;
    first.padTop -= down;
    first.padLeft -= across;
    for (const ConvShape& whole : {s, first}) {
        const Reach y = reachOf(whole.kh, s.strideH, whole.padTop), x = reachOf(whole.kw, s.strideW, whole.padLeft);
        body(whole, denseShape(whole, y, x));
        const auto widens = [](const Reach& reach) { return reach.kernel == 2 || reach.kernel == 3; };
        if (widens(y) && widens(x) && (y.kernel == 2 || x.kernel == 2))
            body(whole, denseShape(whole, {y.first, 3}, {x.first, 3}));
    }
}

// Outputs are copied to their places, or Winograd's transform stores whole blocks of channels there.
Dense fastestDense(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    const ConvOptions own = denseOptions(options);
    const double copy = double(s.batch) * s.oh * s.ow * s.oc * k.costs->cycles.copy;
    std::vector<Dense> found;
    eachDense(s, [&](const ConvShape& whole, const ConvShape& shape) {
        const ConvImplementation& any = chooseConv(k, shape, own);
        found.push_back({shape, whole, any, any.cycles(k, shape, own) + copy, false});
        if (s.oc % k.lanes != 0) return;
        for (const ConvImplementation* each : convImplementations())
            if (each->storesPhases && each->accepts(k, shape, own))
                found.push_back({shape, whole, *each, each->cycles(k, shape, own), true});
    });
    return *std::min_element(found.begin(), found.end(),
                             [](const Dense& a, const Dense& b) { return a.cycles < b.cycles; });
}

class PhasedPlan final : public ConvPlan, FloatWeightPacker {
  public:
    PhasedPlan(const Kernels& k, const ConvShape& s, const ConvOptions& options, const Dense& dense)
        : k_(k),
          s_(s),
          whole_(dense.whole),
          dense_(dense.shape),
          placed_(dense.placed),
          plan_(makeDense(k, s, options, dense)),
          outFloats_(placed_ ? 0 : floatsOf(dense_.oc, dense_.oh, dense_.ow)),
          biasFloats_(placed_ ? 0 : int64_t{ceilDiv(dense_.oc, 16)} * 16) {}

    std::string algorithm() const override { return "phased " + plan_->algorithm(); }
    int64_t packedWeightBytes() const override { return plan_->packedWeightBytes(); }
    std::string weightVariant() const override {
        return plan_->weightVariant() + format(".s%dx%d.a%dx%d.k%dx%d", s_.strideH, s_.strideW, whole_.padTop,
                                               whole_.padLeft, dense_.kh, dense_.kw);
    }
    const FloatWeightPacker* floatPacker() const override { return this; }
    // Residuals are copied before anything is stored, or each element is read right before it is stored.
    bool addsInPlace() const override { return true; }

    int64_t scratchBytes(int threads) const override {
        return checkedAdd(checkedMul(2 * outFloats_ + biasFloats_, int64_t{sizeof(float)}, "scratch"),
                          plan_->scratchBytes(threads), "scratch");
    }

    void run(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
             ThreadPool& pool) const override {
        if (placed_) return plan_->run(src, packed, dst, post, scratch, pool);
        auto* out = static_cast<float*>(scratch);
        float *residual = out + outFloats_, *bias = residual + outFloats_;
        for (int c = 0; c < dense_.oc; ++c) bias[c] = post.bias[c % s_.oc];
        std::fill(bias + dense_.oc, bias + biasFloats_, 0.0f);
        PostOps inner = post;
        inner.bias = bias;
        if (post.residual) {
            forEachRow(pool, [&](int n, int y) {
                copyRow(n, y, [&](ptrdiff_t dense, ptrdiff_t map) { residual[dense] = post.residual[map]; });
            });
            inner.residual = residual;
        }
        plan_->run(src, packed, out, inner, bias + biasFloats_, pool);
        forEachRow(
            pool, [&](int n, int y) { copyRow(n, y, [&](ptrdiff_t dense, ptrdiff_t map) { dst[map] = out[dense]; }); });
    }

  private:
    static std::unique_ptr<ConvPlan> makeDense(const Kernels& k, const ConvShape& s, const ConvOptions& options,
                                               const Dense& dense) {
        ConvOptions own = denseOptions(options);
        OutputPhases phases;
        if (dense.placed) {
            phases = {s.strideH, s.strideW, dense.whole.oh - s.oh, dense.whole.ow - s.ow, s.oh, s.ow};
            own.phases = &phases;
        }
        return dense.implementation.make(k, dense.shape, own);
    }

    int64_t floatsOf(int channels, int height, int width) const {
        const int64_t pixels = checkedMul(int64_t{dense_.batch} * height, width, "scratch");
        return static_cast<int64_t>(
            roundUpFloats(checkedMul(pixels, int64_t{ceilDiv(channels, k_.lanes)} * k_.lanes, "scratch")));
    }

    template <typename Body>
    void forEachRow(ThreadPool& pool, Body&& body) const {
        parallelRanges(pool, int64_t(s_.batch) * s_.oh, 4 * pool.threads(), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) body(static_cast<int>(i / s_.oh), static_cast<int>(i % s_.oh));
        });
    }

    // Calls move(offset in the dense map, offset in the output) for the channels of the pixels of a row of the output.
    // All pixels of a phase's channel come before those of the next, since only they are equally far apart.
    template <typename Move>
    void copyRow(int n, int y, Move&& move) const {
        const int P = k_.lanes, blocks = ceilDiv(s_.oc, P), denseBlocks = ceilDiv(dense_.oc, P);
        const int dropX = whole_.ow - s_.ow, row = y + whole_.oh - s_.oh;
        const ptrdiff_t plane = ptrdiff_t(s_.oh) * s_.ow * P, densePlane = ptrdiff_t(dense_.oh) * dense_.ow * P;
        for (int px = 0; px < s_.strideW; ++px) {
            const int dropped = px < dropX ? 1 : 0, first = dropped * s_.strideW + px - dropX;
            for (int c = 0; c < s_.oc; ++c) {
                const int d = (row % s_.strideH * s_.strideW + px) * s_.oc + c;
                ptrdiff_t from = (ptrdiff_t(n) * denseBlocks + d / P) * densePlane +
                                 (ptrdiff_t(row / s_.strideH) * dense_.ow + dropped) * P + d % P;
                ptrdiff_t to = (ptrdiff_t(n) * blocks + c / P) * plane + (ptrdiff_t(y) * s_.ow + first) * P + c % P;
                for (int x = first; x < s_.ow; x += s_.strideW, from += P, to += ptrdiff_t(s_.strideW) * P)
                    move(from, to);
            }
        }
    }

    void packFloats(const WeightReader& weights, void* packed, ThreadPool& pool) const override {
        const size_t area = size_t(s_.kh) * s_.kw, denseArea = size_t(dense_.kh) * dense_.kw;
        const float* from = weights(0, s_.ic * s_.oc * area);
        std::vector<float> to(size_t(dense_.oc) * s_.ic * denseArea, 0.0f);
        for (const ConvPhase& phase : convPhases(whole_, true)) {
            for (const ConvTap& tap : phase.taps) {
                const size_t at = size_t(tap.dy + dense_.padTop) * dense_.kw + (tap.dx + dense_.padLeft);
                for (int o = 0; o < s_.oc; ++o) {
                    const size_t channel = (size_t(phase.py) * s_.strideW + phase.px) * s_.oc + o;
                    for (int i = 0; i < s_.ic; ++i)
                        to[(channel * s_.ic + i) * denseArea + at] =
                            from[(size_t(i) * s_.oc + o) * area + tap.ky * s_.kw + tap.kx];
                }
            }
        }
        plan_->packWeights(to.data(), packed, pool);
    }

    const Kernels& k_;
    const ConvShape s_, whole_, dense_;
    const bool placed_;
    const std::unique_ptr<ConvPlan> plan_;
    const int64_t outFloats_, biasFloats_;
};

bool acceptsPhased(const Kernels&, const ConvShape& s, const ConvOptions& options) {
    const int64_t phases = int64_t{s.strideH} * s.strideW;
    if (!options.transposed || options.srcNchw || options.bf16 || options.groups != 1 || options.onePacking ||
        options.packedInRuns || options.algorithm != ConvAlgorithm::Auto || s.dilateH != 1 || s.dilateW != 1 ||
        phases == 1 || phases > kMaxPlannedPhases || s.strideH > s.oh || s.strideW > s.ow)
        return false;
    const Reach y = reachOf(s.kh, s.strideH, s.padTop), x = reachOf(s.kw, s.strideW, s.padLeft);
    if (y.first > 0 || x.first > 0 || std::max(y.kernel, x.kernel) > kMaxWeights) return false;
    if (std::max(s.oh, s.ow) > std::numeric_limits<int>::max() - kMaxPlannedPhases) return false;
    // A kernel of two taps may be widened to three.
    const int64_t taps = std::max<int64_t>(y.kernel, 3) * std::max<int64_t>(x.kernel, 3), outputs = phases * s.oc;
    return outputs <= kMaxWeights && taps <= kMaxWeights && taps * s.ic <= kMaxWeights / outputs;
}

double phasedCycles(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return fastestDense(k, s, options).cycles;
}

std::unique_ptr<ConvPlan> makePhased(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return std::make_unique<PhasedPlan>(k, s, options, fastestDense(k, s, options));
}

}  // namespace

const ConvImplementation kPhasedConv{"phased", acceptsPhased, phasedCycles, makePhased, true};

}  // namespace mnnc
