// Convolutions that multiply weights of 8 or 4 bits, without expanding them, with activations rounded to 16 bits
// (W8A16): sums are exact, and the rounding is about 1e-5 of the largest value. Results do not depend on the number of
// threads. A non-finite input makes every output that shares its scale NaN.
#include <vector>

#include "backends/cpu/kernels/conv/conv_cost.h"
#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/gemm/panels.h"
#include "backends/cpu/kernels/w8a16/w8a16_input.h"
#include "backends/cpu/kernels/w8a16/w8a16_weights.h"
#include "base/checked.h"

namespace mnnc {
namespace {

constexpr long kMinPixelChunk = 36;  // fewer would leave tiles of products half empty

class W8A16Plan final : public ConvPlan, QuantizedWeightPacker {
  public:
    W8A16Plan(const Kernels& k, const ConvShape& shape, const ConvOptions& options)
        : k_(k),
          s_(shape),
          form_(options.quantization),
          tiles_(k.w8a16->panels(form_.bits)),
          ocb_(ceilDiv(shape.oc, k.lanes)),
          input_(k, shape, form_.minima, form_.blocks),
          panels_(splitPanels(
              0, ocb_,
              bestPanelBlocks(k.costs->cycles.tile, tiles_, input_.pointwise() ? input_.units() : shape.ow, ocb_))),
          weights_(k, shape, form_, panels_) {
        const int P = k.lanes;
        const bool batchRow = input_.pointwise() && s_.ih * s_.iw == 1;
        dstPixel_ = batchRow ? ptrdiff_t(ocb_) * P : P;
        dstBlock_ = batchRow ? P : ptrdiff_t(s_.oh) * s_.ow * P;
    }

    std::string algorithm() const override {
        return format("%s.int16.w%d", input_.pointwise() ? "gemm1x1" : "direct", form_.bits);
    }
    int64_t packedWeightBytes() const override { return weights_.bytes(); }
    std::string weightVariant() const override { return weights_.variant(); }
    const QuantizedWeightPacker* quantizedPacker() const override { return this; }

    int64_t scratchBytes(int threads) const override {
        int64_t strips = 0;
        for (int t = 1; t <= std::max(1, threads); ++t) {
            const Split split = splitFor(t);
            const int64_t bytes = input_.stripBytes(maxUnits(split));
            strips = std::max(strips, checkedMul(bytes, split.groups > 1 ? 1 : t, "scratch"));
        }
        return strips;
    }

    void run(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
             ThreadPool& pool) const override {
        const int P = k_.lanes;
        auto* strips = static_cast<char*>(scratch);
        const size_t dstImage = size_t(ocb_) * P * s_.oh * s_.ow;
        for (int n = 0; n < input_.images(); ++n) {
            Image image{src + n * input_.imageFloats(), packed, dst + n * dstImage, post, {}};
            if (post.residual) image.post.residual += n * dstImage;
            if (!input_.pointwise()) image.scale = input_.scaleOf(image.src, pool);
            runImage(image, strips, pool);
        }
    }

  private:
    void packQuantized(const QuantizedWeightsView& weights, void* packed, ThreadPool& pool) const override {
        weights_.pack(weights, packed, pool);
    }

    struct Image {
        const float* src;
        const void* packed;
        float* dst;
        PostOps post;
        ActivationScale scale;  // unless each pixel has its own
    };

    int area() const { return s_.kh * s_.kw; }
    int tileUnits() const { return input_.pointwise() ? tiles_.maxRows[panels_[0].nb] : 1; }
    int maxUnits(const Split& split) const {
        return split.groups > 1 ? input_.units() : maxChunk(input_.units(), split.chunks, tileUnits());
    }
    Split splitFor(int threads) const {
        const bool pointwise = input_.pointwise();
        const long units = std::max<long>(pointwise ? kMinPixelChunk : 1,
                                          static_cast<long>(k_.costs->cache.gemmInput / input_.unitBytes()));
        const double pixels = pointwise ? double(input_.units()) : double(s_.oh) * s_.ow;
        const double weights = double(area()) * s_.ic * panels_[0].nb * k_.lanes;
        return splitGemm({input_.units(), units, static_cast<int>(panels_.size()), pixels, weights,
                          k_.costs->task.s16s8, k_.costs->task.fetch},
                         threads);
    }

    void runImage(const Image& image, char* strips, ThreadPool& pool) const {
        const Split split = splitFor(pool.threads());
        const int panels = static_cast<int>(panels_.size());
        const auto unitBegin = [&](int chunk) {
            return chunkBeginTiled(input_.units(), chunk, split.chunks, tileUnits());
        };
        if (split.groups > 1) {  // several tasks read the same rows
            const W8A16Strip strip = input_.stripOf(strips, 0, input_.units());
            input_.fill(image.src, image.scale, strip, pool);
            parallelFor(pool, split.chunks * split.groups, [&](int task) {
                const int chunk = task / split.groups, group = task % split.groups;
                const int to = chunkBegin(panels, group + 1, split.groups);
                for (int i = chunkBegin(panels, group, split.groups); i < to; ++i)
                    runPanel(image, strip, panels_[i], unitBegin(chunk), unitBegin(chunk + 1));
            });
            return;
        }
        const int64_t stride = input_.stripBytes(maxUnits(split));
        parallelSlots(pool, split.chunks, [&](int slot, int chunk) {
            InlinePool alone;
            const W8A16Strip strip = input_.stripOf(strips + slot * stride, unitBegin(chunk), unitBegin(chunk + 1));
            input_.fill(image.src, image.scale, strip, alone);
            for (const OutPanel& panel : panels_) runPanel(image, strip, panel, strip.u0, strip.u1);
        });
    }

    void runPanel(const Image& image, const W8A16Strip& strip, const OutPanel& panel, int u0, int u1) const {
        const int P = k_.lanes;
        const bool pointwise = input_.pointwise();
        const ptrdiff_t row = input_.rowElements();
        const PostOps& post = image.post;
        W8A16PanelArgs t;
        t.pixelStride = pointwise ? P : ptrdiff_t(s_.strideW) * P;
        t.tapOffset = input_.tapOffsets().data();
        t.taps = area();
        t.fullBlocks = s_.ic / P;
        t.blockStride = strip.rows * row;
        t.tail = s_.ic % P;
        weights_.describe(image.packed, panel, t);
        t.dstPixelStride = dstPixel_;
        t.dstBlockStride = dstBlock_;
        t.bias = image.post.bias + panel.block * P;
        const bool sums = form_.minima && form_.blocks == 1, blockSums = form_.minima && form_.blocks > 1;
        t.pixelScaleStep = pointwise ? 1 : 0;
        t.lo = post.lo;
        t.hi = post.hi;
        t.act = post.act;
        t.nb = panel.nb;
        t.lastLanes = P;
        const auto go = [&](int at, ptrdiff_t pixel, int m) {
            const ptrdiff_t to = panel.block * dstBlock_ + pixel * dstPixel_;
            t.a = strip.data + at * row;
            t.dst = image.dst + to;
            t.residual = post.residual ? post.residual + to : nullptr;
            t.m = m;
            tiles_.panel(t);
        };
        if (pointwise) {
            t.pixelScale = strip.scale + (u0 - strip.u0);
            t.pixelOffset = strip.offset + (u0 - strip.u0);
            t.pixelSum = sums ? strip.sum + (u0 - strip.u0) : nullptr;
            t.blockSums = blockSums ? strip.sum + ptrdiff_t(u0 - strip.u0) * form_.blocks : nullptr;
            return go(u0 - strip.u0, u0, u1 - u0);
        }
        t.pixelScale = &image.scale.scale;
        t.pixelOffset = &image.scale.offset;
        for (int y = u0; y < u1; ++y) {
            t.pixelSum = sums ? strip.sum + ptrdiff_t(y - strip.u0) * s_.ow : nullptr;
            go((y - strip.u0) * s_.strideH, ptrdiff_t(y) * s_.ow, s_.ow);
        }
    }

    const Kernels& k_;
    const ConvShape s_;
    const WeightQuantization form_;
    const W8A16Panels& tiles_;
    const int ocb_;
    const W8A16Input input_;
    const std::vector<OutPanel> panels_;
    const W8A16Weights weights_;
    ptrdiff_t dstPixel_ = 0, dstBlock_ = 0;
};

// Products of quantised weights save half the multiply-adds and the expansion of the weights, but round every block of
// inputs and scale every block of outputs. Measured on whole nets.
bool isFasterThanExpanding(const Kernels& k, const ConvShape& s) {
    const CycleCosts& costs = k.costs->cycles;
    const int icb = ceilDiv(s.ic, k.lanes), ocb = ceilDiv(s.oc, k.lanes);
    const bool point = s.kh * s.kw == 1;
    const double outputs = double(s.batch) * s.oh * s.ow;
    const double inputs = point ? outputs : double(s.batch) * s.ih * s.iw;
    const double terms = double(s.kh) * s.kw * s.ic, vectors = terms * ocb;
    return terms >= kMinRoundedTerms &&
           vectors * (costs.w8a16Gain * outputs + costs.dequantize) >
               inputs * icb * costs.round + outputs * (ocb * costs.rescale + costs.pixelScale);
}

// Products of bf16 expand the weights first: on x86 they take three times as long as those of 16-bit integers for
// pointwise convolutions of 1 to 128 pixels (AVX-512). Others were not measured.
bool prefersBf16(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return roundsToBf16(k, s, options) && (k.id == Isa::Neon || s.kh * s.kw > 1);
}

bool accepts(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    const WeightQuantization& weights = options.quantization;
    return k.w8a16 && weights.bits != 0 && options.groups == 1 && !options.exact && !options.transposed &&
           !options.srcNchw && s.ic > 4 && W8A16Input::takesBlocks(k, s, weights.blocks) &&
           !prefersBf16(k, s, options) && (options.algorithm != ConvAlgorithm::Auto || isFasterThanExpanding(k, s));
}

// Counts half the multiply-adds of floats, and two passes over the input: one for the scale, one that rounds.
double cycles(const Kernels& k, const ConvShape& s, const ConvOptions&) {
    const CycleCosts& costs = k.costs->cycles;
    const int icb = ceilDiv(s.ic, k.lanes), blocks = ceilDiv(s.oc, k.lanes);
    const int nb = bestPanelBlocks(k, s.ow, blocks);
    const double steps = double(s.kh) * s.kw * s.ic * 0.5;
    const double products = s.oh * steps * gemmCycles(k, s.ow, blocks, nb) * costs.gemmOverhead;
    const double rounding = double(icb) * (s.ih + 2) * (s.iw + 2) * costs.roundRow;
    const double weights = double(s.kh) * s.kw * s.ic * s.oc;
    return (s.batch - 1) * products + s.batch * rounding + withTraffic(k, products, weights);
}

std::unique_ptr<ConvPlan> make(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return std::make_unique<W8A16Plan>(k, s, options);
}

}  // namespace

const ConvImplementation kW8A16Conv{"w8a16", accepts, cycles, make};

}  // namespace mnnc
