// 1x1 convolutions: products whose rows are pixels, in the order in which they are stored. The pixels that a stride
// selects are copied first, or become contiguous when they are rounded to bf16, because all panels read them.
#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/conv/conv_cost.h"
#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/conv/gemm_conv.h"
#include "backends/cpu/kernels/conv/gemm_conv_bf16.h"

namespace mnnc {
namespace {

// The distances between the pixels and the planes of the input, in floats. In maps of one pixel (fully connected
// layers) the images of the batch are the rows, which may be those of a row-major tensor.
struct PixelGeometry : GemmGeometry {
    ptrdiff_t pixel, plane;
};

PixelGeometry pixelGeometry(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    const int P = k.lanes;
    const ptrdiff_t icb = ceilDiv(s.ic, P), ocb = ceilDiv(s.oc, P);
    const bool batchRow = s.ih * s.iw == 1;
    PixelGeometry g;
    g.phases = convPhases(s, false);
    g.images = batchRow ? 1 : s.batch;
    g.pixel = options.srcNchw ? s.ic : batchRow ? icb * P : P;
    g.plane = batchRow ? P : ptrdiff_t(s.ih) * s.iw * P;
    OutputWalk walk;
    walk.byPixel = true;
    walk.units = batchRow ? s.batch : s.oh * s.ow;
    walk.position = walk.pixel = g.pixel;
    g.rowMajorOutput = options.dstRowMajor;
    walk.dstUnit = walk.dstPixel = options.dstRowMajor ? s.oc : batchRow ? ocb * P : P;
    walk.dstBlock = batchRow ? P : ptrdiff_t(walk.units) * P;
    g.walks.push_back(walk);
    g.tapOffsets = {{0}};
    g.srcImage = size_t(icb) * P * s.ih * s.iw;
    g.dstImage = size_t(ocb) * P * s.oh * s.ow;
    g.unitElements = int64_t(icb) * P;
    return g;
}

std::string pointwiseName(const GemmWeightOptions& options) {
    return options.groups > 1 ? "grouped" : "gemm1x1";
}

// Returns whether outputs read only some pixels of the input.
bool isSampled(const ConvShape& s) {
    return s.oh != s.ih || s.ow != s.iw;
}

class PointwisePlan final : public GemmConvPlan, private TileableConv {
  public:
    PointwisePlan(const Kernels& k, const ConvShape& shape, const GemmWeightOptions& options,
                  const PixelGeometry& geometry)
        : GemmConvPlan(k, shape, options, geometry), plane_(geometry.plane) {}

    std::string algorithm() const override { return pointwiseName(options_) + weights_.suffix(); }
    const TileableConv* tileable() const override { return s_.ih * s_.iw > 1 ? this : nullptr; }

  private:
    size_t sourceBytes(int) const override { return 0; }
    void runImage(const GemmImage& image, ThreadPool& pool) const override {
        runSource(image, GemmSource<float>{image.src, plane_, 0}, pool);
    }

    int panelCount() const override { return GemmConvPlan::panelCount(); }
    OutPanel panel(int i) const override { return {weights_.panels()[i].block, weights_.panels()[i].nb}; }
    size_t expandedBytes() const override { return weights_.expandedBytes(); }
    const float* weightsOf(const void* packed, int i, void* expanded) const override {
        return weights_.panel<float>(packed, 0, i, expanded);
    }
    void runPixels(const float* image, const float* weights, int i, int begin, int end, float* dst, ptrdiff_t dstBlock,
                   const PostOps& post) const override {
        PanelArgs t = panelArgs(GemmSource<float>{image, plane_, 0}, 0, i, weights, post);
        t.a += begin * t.pixelStride;
        t.dst = dst;
        t.dstPixelStride = k_.lanes;
        t.dstBlockStride = dstBlock;
        t.m = end - begin;
        k_.panels->panel(t);
    }

    const ptrdiff_t plane_;
};

// The pixels of a copy are contiguous, wherever they come from.
GemmGeometry packedPixels(GemmGeometry g, int lanes) {
    g.walks[0].position = g.walks[0].pixel = lanes;
    return g;
}

// Copies n blocks of P floats that are `stride` apart.
template <int P>
void samplePixels(const float* from, ptrdiff_t stride, int n, float* to) {
    for (int i = 0; i < n; ++i) std::memcpy(to + i * P, from + i * stride, P * sizeof(float));
}

class SampledPointwisePlan final : public GemmConvPlan {
  public:
    SampledPointwisePlan(const Kernels& k, const ConvShape& shape, const GemmWeightOptions& options,
                         const PixelGeometry& geometry)
        : GemmConvPlan(k, shape, options, packedPixels(geometry, k.lanes)),
          sample_(k.lanes == 16  ? &samplePixels<16>
                  : k.lanes == 8 ? &samplePixels<8>
                                 : &samplePixels<4>) {}

    std::string algorithm() const override { return pointwiseName(options_) + weights_.suffix(); }

  private:
    size_t sourceBytes(int) const override { return size_t(icb_) * plane() * sizeof(float); }

    void runImage(const GemmImage& image, ThreadPool& pool) const override {
        const int P = k_.lanes;
        float* copy = reinterpret_cast<float*>(image.memory);
        parallelRanges(pool, int64_t{icb_} * s_.oh, 4 * pool.threads(), [&](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; ++row) {
                const int64_t block = row / s_.oh, y = row % s_.oh;
                sample_(image.src + (block * s_.ih + y * s_.strideH) * s_.iw * P, ptrdiff_t(s_.strideW) * P, s_.ow,
                        copy + row * s_.ow * P);
            }
        });
        runSource(image, GemmSource<float>{copy, plane(), 0}, pool);
    }

    ptrdiff_t plane() const { return ptrdiff_t(s_.oh) * s_.ow * k_.lanes; }

    void (*const sample_)(const float* from, ptrdiff_t stride, int n, float* to);
};

class Bf16PointwisePlan final : public Bf16GemmConvPlan {
  public:
    Bf16PointwisePlan(const Kernels& k, const ConvShape& shape, const GemmWeightOptions& options,
                      const PixelGeometry& geometry)
        : Bf16GemmConvPlan(k, shape, options, packedPixels(geometry, k.lanes), geometry.walks[0].units, 1),
          pixel_(geometry.pixel),
          plane_(geometry.plane),
          sampled_(isSampled(shape)) {}

    std::string algorithm() const override { return std::string("gemm1x1.") + k_.bf16->type + weights_.suffix(); }

  private:
    void fillStrip(const float* image, Positions pixels, uint16_t* strip, int64_t begin, int64_t end) const override {
        const int P = k_.lanes;
        while (begin < end) {
            const int c = static_cast<int>(begin / pixels.count), at = static_cast<int>(begin % pixels.count);
            const int pixel = pixels.first + at, x = pixel % s_.ow, lanes = std::min(P, s_.ic - c * P);
            int n = static_cast<int>(std::min<int64_t>(end - begin, pixels.count - at));
            const float* from = image + c * plane_ + pixel * pixel_;
            ptrdiff_t stride = pixel_;
            if (sampled_) {  // up to the end of the row
                n = std::min(n, s_.ow - x);
                stride = ptrdiff_t(s_.strideW) * P;
                from = image + c * plane_ + ptrdiff_t(pixel / s_.ow) * s_.strideH * s_.iw * P + x * stride;
            }
            k_.bf16->convertBlock(from, stride, n, lanes, strip + begin * P);
            begin += n;
        }
    }

    const ptrdiff_t pixel_, plane_;
    const bool sampled_;  // only every stride-th pixel counts
};

bool acceptsPointwise(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    if (options.transposed) return false;
    if (options.srcNchw && !isFullyConnected(s, options)) return false;
    if (options.dstRowMajor && !convWritesRowMajor(k, s, options)) return false;
    if (s.kh * s.kw != 1 || s.padTop != 0 || s.padLeft != 0) return false;
    const bool all = s.oh == s.ih && s.ow == s.iw && (s.strideH == 1 || s.oh == 1) && (s.strideW == 1 || s.ow == 1);
    const bool inside = int64_t{s.oh - 1} * s.strideH < s.ih && int64_t{s.ow - 1} * s.strideW < s.iw;
    return all || (isSampled(s) && inside && !options.srcNchw && !options.dstRowMajor);
}

double pointwiseCycles(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    ConvShape copied = s;  // the pixels that are copied
    copied.ih = s.oh, copied.iw = s.ow;
    return gemmConvCycles(k, copied, options, {1, s.oh * s.ow, 1.0, isSampled(s)});
}

std::unique_ptr<ConvPlan> makePointwise(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    GemmWeightOptions weights;
    weights.groups = options.groups;
    weights.onePacking = options.onePacking;
    weights.bf16 = roundsToBf16(k, s, options);
    if (options.groups == 1) weights.quantization = options.quantization;
    const PixelGeometry geometry = pixelGeometry(k, s, options);
    if (weights.bf16) return std::make_unique<Bf16PointwisePlan>(k, s, weights, geometry);
    if (isSampled(s)) return std::make_unique<SampledPointwisePlan>(k, s, weights, geometry);
    return std::make_unique<PointwisePlan>(k, s, weights, geometry);
}

}  // namespace

const ConvImplementation kPointwiseConv{"pointwise", acceptsPointwise, pointwiseCycles, makePointwise};

}  // namespace mnnc
