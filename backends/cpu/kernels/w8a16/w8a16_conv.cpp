// Convolutions that multiply weights of 8 or 4 bits, without expanding them, with activations rounded to 16 bits
// (W8A16; elsewhere, A16 often means 16-bit floats). Sums are exact, and the rounding is about 1e-5 of the largest
// value. Results do not depend on the number of threads. A non-finite input makes every output that shares its scale
// NaN.
#include <vector>

#include "backends/cpu/kernels/conv/conv_cost.h"
#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/gemm/panels.h"
#include "backends/cpu/kernels/w8a16/w8a16_input.h"
#include "backends/cpu/kernels/w8a16/w8a16_matrix.h"
#include "backends/cpu/kernels/w8a16/w8a16_weights.h"
#include "base/checked.h"

namespace mnnc {
namespace {

constexpr int kFirstBytes = 4096;       // of weights, prefetched for a task; 8192 were not faster
constexpr int64_t kMinPixelChunk = 36;  // fewer would leave tiles of products half empty
// A matrix unit computes the products of at least kMinMatrixPixels pixels, and of at most kMaxMatrixPixels at a time,
// so that their input stays in the cache. Sums over fewer than kMinMatrixBlocks blocks of channels would take longer to
// scale than to add up.
constexpr int kMinMatrixPixels = 24, kMaxMatrixPixels = 256, kMinMatrixBlocks = 4;

class W8A16Plan final : public ConvPlan, QuantizedWeightPacker {
  public:
    W8A16Plan(const Kernels& k, const ConvShape& shape, const ConvOptions& options)
        : k_(k),
          s_(shape),
          form_(options.quantization),
          tiles_(k.w8a16->panels(form_.bits)),
          ocb_(ceilDiv(shape.oc, k.lanes)),
          input_(k, shape, form_),
          matrix_(suitsMatrix() ? k.w8a16->matrix() : nullptr),
          panels_(splitPanels(0, ocb_, bestPanelBlocks(k.costs->cycles.tile, tiles_, usualPixels(), ocb_))),
          weights_(k, shape, form_, panels_),
          product_(matrix_ ? shape.ic : 0, k.lanes, weights_.blockLength(), form_.bits) {
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
        if (matrix_) {
            const int pixels = std::min(input_.units(), kMaxMatrixPixels);
            return input_.stripBytes(pixels) + product_.inputBytes(pixels) +
                   product_.codeBytes(tiles_.maxPanelBlocks) * std::max(1, threads);
        }
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
            if (matrix_)
                runByMatrix(image, strips, pool);
            else
                runImage(image, strips, pool);
        }
    }

  private:
    bool suitsMatrix() const {
        return k_.w8a16->matrix && input_.pointwise() && input_.units() >= kMinMatrixPixels &&
               (form_.blocks == 1 || s_.ic / k_.lanes / form_.blocks >= kMinMatrixBlocks);
    }
    // Returns the number of pixels for which weights are packed. Plans of a pointwise convolution for one pixel and for
    // many share the packed weights, because a decoder has both: its steps and its prompts. Where a matrix unit
    // computes many pixels, the packing suits one pixel, else it suits many.
    int usualPixels() const {
        if (!input_.pointwise()) return s_.ow;
        return k_.w8a16->matrix && k_.w8a16->matrix() ? 1 : kUsualPixels;
    }
    void packQuantized(QuantizedWeightReader& weights, void* packed, ThreadPool& pool) const override {
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
        const int64_t units = std::max<int64_t>(pointwise ? kMinPixelChunk : 1,
                                                static_cast<int64_t>(k_.costs->cache.gemmInput / input_.unitBytes()));
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
            fetchFirst(image.packed, 0);
            const W8A16Strip strip = input_.stripOf(strips, 0, input_.units());
            input_.fill(image.src, image.scale, strip, pool);
            parallelFor(pool, split.chunks * split.groups, [&](int task) {
                const int chunk = task / split.groups, group = task % split.groups;
                const int from = chunkBegin(panels, group, split.groups),
                          to = chunkBegin(panels, group + 1, split.groups);
                if (task > 0) fetchFirst(image.packed, from);
                for (int i = from; i < to; ++i)
                    runPanel(image, strip, panels_[i], unitBegin(chunk), unitBegin(chunk + 1));
            });
            return;
        }
        fetchFirst(image.packed, 0);
        const int64_t stride = input_.stripBytes(maxUnits(split));
        parallelSlots(pool, split.chunks, [&](int slot, int chunk) {
            InlinePool alone;
            const W8A16Strip strip = input_.stripOf(strips + slot * stride, unitBegin(chunk), unitBegin(chunk + 1));
            input_.fill(image.src, image.scale, strip, alone);
            for (const OutPanel& panel : panels_) runPanel(image, strip, panel, strip.u0, strip.u1);
        });
    }

    // Requests the first weights of a task on a single pixel, which would otherwise wait for them. Kernels request all
    // other weights in time.
    void fetchFirst(const void* packed, int panel) const {
        if (!input_.pointwise() || input_.units() > 1) return;
        W8A16PanelArgs t;
        weights_.describe(packed, panels_[panel], t);
        for (int at = 0; at < kFirstBytes; at += 64) __builtin_prefetch(t.w + at, 0, 2);
    }

    // Multiplies all panels with at most kMaxMatrixPixels pixels at a time. Each thread unpacks the codes that it
    // needs.
    void runByMatrix(const Image& image, char* scratch, ThreadPool& pool) const {
        const int units = input_.units(), rounds = ceilDiv(units, kMaxMatrixPixels);
        const int panels = static_cast<int>(panels_.size());
        const MatrixSteps steps = product_.steps();
        for (int round = 0; round < rounds; ++round) {
            const int u0 = chunkBegin(units, round, rounds), u1 = chunkBegin(units, round + 1, rounds);
            const W8A16Strip strip = input_.stripOf(scratch, u0, u1);
            input_.fill(image.src, image.scale, strip, pool);
            auto* const input = reinterpret_cast<uint8_t*>(scratch + input_.stripBytes(u1 - u0));
            const int groups = ceilDiv(u1 - u0, kMatrixRows);
            const auto inputOf = [&](int64_t group) {
                return input + product_.inputBytes(static_cast<int>(group) * kMatrixRows);
            };
            parallelRanges(pool, groups, pool.threads(), [&](int64_t begin, int64_t end) {
                const int first = static_cast<int>(begin) * kMatrixRows;
                const int pixels = std::min(static_cast<int>(end) * kMatrixRows, u1 - u0) - first;
                const MatrixInput part{strip.data + first * input_.rowElements(), strip.rows * input_.rowElements(),
                                       pixels, steps};
                (form_.bits == 8 ? matrix_->packInput8 : matrix_->packInput4)(part, inputOf(begin));
            });
            // Each thread gets equally many tasks, or so many that one more does not matter.
            int parts = 1;
            while (panels * parts % pool.threads() != 0 && panels * parts < 8 * pool.threads() && parts < groups)
                ++parts;
            uint8_t* const codes = inputOf(groups);
            parallelSlots(pool, panels * parts, [&](int slot, int task) {
                const OutPanel& panel = panels_[task / parts];
                const int first = chunkBegin(groups, task % parts, parts),
                          last = chunkBegin(groups, task % parts + 1, parts);
                const int from = u0 + first * kMatrixRows, to = std::min(u0 + last * kMatrixRows, u1);
                const W8A16PanelArgs t = panelOf(image, strip, panel, from, to);
                uint8_t* const own = codes + slot * product_.codeBytes(tiles_.maxPanelBlocks);
                (form_.bits == 8 ? matrix_->packCodes8 : matrix_->packCodes4)({t.w, t.nb, s_.ic, steps}, own);
                matrix_->panel(t, steps, inputOf(first), own);
            });
        }
    }

    // Returns the arguments for pixels u0 .. u1 of a convolution with pixels as its units.
    W8A16PanelArgs panelOf(const Image& image, const W8A16Strip& strip, const OutPanel& panel, int u0, int u1) const {
        W8A16PanelArgs t = panelOf(image, strip, panel);
        const bool sums = form_.minima && form_.blocks == 1, blockSums = form_.minima && form_.blocks > 1;
        t.pixelScale = strip.scale + (u0 - strip.u0);
        t.pixelOffset = strip.offset + (u0 - strip.u0);
        t.pixelSum = sums ? strip.sum + (u0 - strip.u0) : nullptr;
        t.blockSums = blockSums ? strip.sum + ptrdiff_t(u0 - strip.u0) * form_.blocks : nullptr;
        t.rowStart = input_.row() ? strip.start : nullptr;
        place(t, image, panel, strip.data + (u0 - strip.u0) * input_.rowElements(), u0, u1 - u0);
        return t;
    }

    // Sets the place of m pixels, from `pixel` on, whose input begins at `a`.
    void place(W8A16PanelArgs& t, const Image& image, const OutPanel& panel, const int16_t* a, ptrdiff_t pixel,
               int m) const {
        const ptrdiff_t to = panel.block * dstBlock_ + pixel * dstPixel_;
        t.a = a;
        t.dst = image.dst + to;
        t.residual = image.post.residual ? image.post.residual + to : nullptr;
        t.m = m;
    }

    // Returns the arguments that all pixels have in common.
    W8A16PanelArgs panelOf(const Image& image, const W8A16Strip& strip, const OutPanel& panel) const {
        const int P = k_.lanes;
        const bool pointwise = input_.pointwise();
        const PostOps& post = image.post;
        W8A16PanelArgs t;
        t.pixelStride = pointwise ? P : ptrdiff_t(s_.strideW) * P;
        t.tapOffset = input_.tapOffsets().data();
        t.taps = area();
        t.fullBlocks = s_.ic / P;
        t.blockStride = strip.rows * input_.rowElements();
        t.tail = s_.ic % P;
        weights_.describe(image.packed, panel, t);
        t.dstPixelStride = dstPixel_;
        t.dstBlockStride = dstBlock_;
        t.bias = post.bias + panel.block * P;
        t.pixelScaleStep = pointwise ? 1 : 0;
        t.lo = post.lo;
        t.hi = post.hi;
        t.act = post.act;
        t.nb = panel.nb;
        t.lastLanes = P;
        return t;
    }

    void runPanel(const Image& image, const W8A16Strip& strip, const OutPanel& panel, int u0, int u1) const {
        if (input_.pointwise()) {
            const W8A16PanelArgs pixels = panelOf(image, strip, panel, u0, u1);
            return input_.row() ? input_.row()->panel(pixels) : tiles_.panel(pixels);
        }
        W8A16PanelArgs t = panelOf(image, strip, panel);
        t.pixelScale = &image.scale.scale;
        t.pixelOffset = &image.scale.offset;
        for (int y = u0; y < u1; ++y) {
            t.pixelSum = form_.minima && form_.blocks == 1 ? strip.sum + ptrdiff_t(y - strip.u0) * s_.ow : nullptr;
            place(t, image, panel, strip.data + (y - strip.u0) * s_.strideH * input_.rowElements(),
                  ptrdiff_t(y) * s_.ow, s_.ow);
            tiles_.panel(t);
        }
    }

    const Kernels& k_;
    const ConvShape s_;
    const WeightQuantization form_;
    const W8A16Panels& tiles_;
    const int ocb_;
    const W8A16Input input_;
    const W8A16MatrixKernels* const matrix_;  // null: panel kernels compute all pixels
    const std::vector<OutPanel> panels_;
    const W8A16Weights weights_;
    const MatrixProduct product_;
    ptrdiff_t dstPixel_ = 0, dstBlock_ = 0;
};

// Products of quantised weights save half the multiply-adds and the expansion of the weights, but round every block of
// inputs and scale every block of outputs. The costs were measured on whole nets.
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

// Returns whether products of bf16 are preferred, where the precision allows them. On x86 they are not for pointwise
// convolutions: bf16 expands the weights first, which takes three times as long for 1 to 128 pixels (AVX-512). Other
// cases were not measured.
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
