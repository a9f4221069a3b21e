// Direct convolutions that skip the taps outside of the map: with a large dilation or a small map these are most of them.
// Outputs with the same taps inside are a rectangle, whose products read the input itself.
#include <utility>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/conv_cost.h"
#include "backends/cpu/kernels/conv_implementations.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/gemm_conv.h"
#include "backends/cpu/kernels/panels.h"

namespace mnnc {
namespace {

constexpr size_t kMaxRegions = 81;  // each is a product of its own

class ClippedPlan final : public GemmConvPlan {
  public:
    ClippedPlan(const Kernels& k, const ConvShape& shape, const GemmWeightOptions& options,
                GemmGeometry geometry)
        : GemmConvPlan(k, shape, options, std::move(geometry)),
          plane_(ptrdiff_t(shape.ih) * shape.iw * k.lanes) {}

    std::string algorithm() const override { return "clipped" + weights_.suffix(); }

  private:
    size_t sourceBytes(int) const override { return 0; }
    void runImage(const GemmImage& image, ThreadPool& pool) const override {
        runSource(image, GemmSource<float>{image.src, plane_, 0}, pool);
    }

    const ptrdiff_t plane_;
};

// Whether the outputs of a region follow one another in both maps at equal distances.
bool isOneRow(const ConvShape& s, const TapRegion& region) {
    return s.oh == 1 ||
           (region.cols == s.ow && s.ow == s.iw && s.strideW == 1 && (s.strideH == 1 || region.rows == 1));
}

GemmGeometry clippedGeometry(const Kernels& k, const ConvShape& s) {
    const int P = k.lanes;
    const ptrdiff_t icb = ceilDiv(s.ic, P), ocb = ceilDiv(s.oc, P), row = ptrdiff_t(s.iw) * P;
    GemmGeometry g;
    g.phases = convPhases(s, false);
    const std::vector<ConvTap>& taps = g.phases[0].taps;
    for (TapRegion& region : tapRegions(s, kMaxRegions)) {
        OutputWalk walk;
        walk.byPixel = isOneRow(s, region);
        walk.pixel = ptrdiff_t(s.strideW) * P;
        walk.dst = (ptrdiff_t(region.y) * s.ow + region.x) * P;
        walk.dstPixel = P;
        walk.dstBlock = ptrdiff_t(s.oh) * s.ow * P;
        walk.units = walk.byPixel ? region.rows * region.cols : region.rows;
        walk.columns = walk.byPixel ? 1 : region.cols;
        walk.step = walk.byPixel ? 1 : s.strideH;
        walk.position = walk.byPixel ? walk.pixel : row;
        walk.dstUnit = walk.byPixel ? P : ptrdiff_t(s.ow) * P;
        g.walks.push_back(walk);
        std::vector<ptrdiff_t>& offsets = g.tapOffsets.emplace_back();
        for (const int tap : region.taps) {
            const ptrdiff_t y = ptrdiff_t(region.y) * s.strideH + taps[tap].dy,
                            x = ptrdiff_t(region.x) * s.strideW + taps[tap].dx;
            offsets.push_back(y * row + x * P);
        }
        g.tapRuns.push_back(std::move(region.taps));
    }
    g.images = s.batch;
    g.srcImage = size_t(icb) * P * s.ih * s.iw;
    g.dstImage = size_t(ocb) * P * s.oh * s.ow;
    g.unitElements = long(icb) * (g.walks[0].byPixel ? g.walks[0].pixel : row * s.strideH);
    return g;
}

// Where "direct" is the implementation before it: the cycles of others are not comparable.
bool accepts(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return !options.transposed && !options.srcNchw && options.algorithm == ConvAlgorithm::Auto &&
           s.kh * s.kw > 1 && fillsVectors(k, s, options.groups) && !convReadsNchw(s, options.groups) &&
           !roundsToBf16(k, s, options) && !tapRegions(s, kMaxRegions).empty();
}

double cycles(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    const double weights = gemmConvCycles(k, s, options, {0, 1, 0, false});
    double sum = weights;
    for (const TapRegion& region : tapRegions(s, kMaxRegions)) {
        const bool row = isOneRow(s, region);
        const GemmConvWork work{row ? 1 : region.rows, row ? region.rows * region.cols : region.cols,
                                double(region.taps.size()), false};
        sum += gemmConvCycles(k, s, options, work) - weights;
    }
    return sum;
}

std::unique_ptr<ConvPlan> make(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    GemmWeightOptions weights;
    weights.groups = options.groups;
    if (options.groups == 1) weights.quantization = options.quantization;
    return std::make_unique<ClippedPlan>(k, s, weights, clippedGeometry(k, s));
}

}  // namespace

const ConvImplementation kClippedConv{"clipped", accepts, cycles, make, true};

}  // namespace mnnc
