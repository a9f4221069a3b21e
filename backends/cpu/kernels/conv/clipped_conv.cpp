// Direct and transposed convolutions that skip the taps outside of the map, which are most of the taps where the
// dilation is large or the map is small. Outputs with the same taps inside of the map form a rectangle, whose products
// read the input itself.
#include <utility>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/conv/conv_cost.h"
#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/conv/gemm_conv.h"
#include "backends/cpu/kernels/gemm/panels.h"

namespace mnnc {
namespace {

constexpr size_t kMaxRegions = 81;        // each is a product of its own
constexpr int64_t kColumnMap = 32 << 10;  // bytes of a block of channels
constexpr double kRegionCall = 150;       // cycles of a region for each panel, beside its products

class ClippedPlan final : public GemmConvPlan {
  public:
    ClippedPlan(const Kernels& k, const ConvShape& shape, const GemmWeightOptions& options, GemmGeometry geometry)
        : GemmConvPlan(k, shape, options, std::move(geometry)), plane_(ptrdiff_t(shape.ih) * shape.iw * k.lanes) {}

    std::string algorithm() const override {
        return (options_.transposed ? "clipped deconv" : "clipped") + weights_.suffix();
    }

  private:
    size_t sourceBytes(int) const override { return 0; }
    void runImage(const GemmImage& image, ThreadPool& pool) const override {
        runSource(image, GemmSource<float>{image.src, plane_, 0}, pool);
    }

    const ptrdiff_t plane_;
};

// Returns whether the outputs of a region follow one another at equal distances in both maps.
bool isOneRow(const ConvShape& s, const TapRegion& region) {
    return s.oh == 1 || (region.cols == s.ow && s.ow == s.iw && s.strideW == 1 && (s.strideH == 1 || region.rows == 1));
}

// Returns whether products take the columns of a region instead of its rows: columns are longer, and the map stays in
// the first level cache.
bool byColumns(const Kernels& k, const ConvShape& s, const TapRegion& region) {
    return region.rows > region.cols && int64_t{s.ih} * s.iw * k.lanes * int64_t{sizeof(float)} <= kColumnMap;
}

GemmGeometry clippedGeometry(const Kernels& k, const ConvShape& s, bool transposed) {
    const int P = k.lanes, stepY = transposed ? 1 : s.strideH, stepX = transposed ? 1 : s.strideW;
    const int phaseY = transposed ? s.strideH : 1, phaseX = transposed ? s.strideW : 1;
    const ptrdiff_t icb = ceilDiv(s.ic, P), ocb = ceilDiv(s.oc, P), row = ptrdiff_t(s.iw) * P;
    GemmGeometry g;
    g.phases = convPhases(s, transposed);
    for (TapRegion& region : tapRegions(s, transposed, kMaxRegions)) {
        const ConvPhase& phase = g.phases[region.phase];
        OutputWalk walk;
        walk.phase = region.phase;
        walk.byPixel = !transposed && isOneRow(s, region);
        walk.pixel = ptrdiff_t(stepX) * P;
        walk.dst = ((ptrdiff_t(region.y) * phaseY + phase.py) * s.ow + ptrdiff_t(region.x) * phaseX + phase.px) * P;
        walk.dstPixel = ptrdiff_t(phaseX) * P;
        walk.dstBlock = ptrdiff_t(s.oh) * s.ow * P;
        walk.units = walk.byPixel ? region.rows * region.cols : region.rows;
        walk.columns = walk.byPixel ? 1 : region.cols;
        walk.step = walk.byPixel ? 1 : stepY;
        walk.position = walk.byPixel ? walk.pixel : row;
        walk.dstUnit = walk.byPixel ? P : ptrdiff_t(phaseY) * s.ow * P;
        if (!walk.byPixel && byColumns(k, s, region)) {
            std::swap(walk.units, walk.columns);
            std::swap(walk.dstUnit, walk.dstPixel);
            walk.pixel = row * stepY;
            walk.position = ptrdiff_t(stepX) * P;
            walk.step = 1;
        }
        g.walks.push_back(walk);
        std::vector<ptrdiff_t>& offsets = g.tapOffsets.emplace_back();
        for (const int tap : region.taps) {
            const ptrdiff_t y = ptrdiff_t(region.y) * stepY + phase.taps[tap].dy,
                            x = ptrdiff_t(region.x) * stepX + phase.taps[tap].dx;
            offsets.push_back(y * row + x * P);
        }
        g.tapRuns.push_back(std::move(region.taps));
    }
    g.images = s.batch;
    g.srcImage = size_t(icb) * P * s.ih * s.iw;
    g.dstImage = size_t(ocb) * P * s.oh * s.ow;
    g.unitElements =
        int64_t(icb) * (g.walks[0].byPixel ? g.walks[0].pixel : int64_t(P) * g.walks[0].columns * stepX * stepY);
    return g;
}

// Accepts a shape only where "direct" or "deconvolution" is chosen among the implementations before it, because the
// cycles of others are not comparable.
bool acceptsClipped(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    if (options.srcNchw || options.algorithm != ConvAlgorithm::Auto || s.kh * s.kw == 1 || roundsToBf16(k, s, options))
        return false;
    const bool comparable =
        options.transposed ? options.groups == 1 : fillsVectors(k, s, options.groups) && !convReadsNchw(s, options);
    return comparable && !tapRegions(s, options.transposed, kMaxRegions).empty();
}

double clippedCycles(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    ConvOptions packed = options;
    if (options.transposed) packed.quantization = {};  // these weights do not stay quantised
    const double weights = gemmConvCycles(k, s, packed, {0, 1, 0, false});
    const int blocks = ceilDiv(s.oc / options.groups, k.lanes);
    const double panels = double(options.groups) * ceilDiv(blocks, k.panels->maxPanelBlocks);
    double sum = weights;
    for (const TapRegion& region : tapRegions(s, options.transposed, kMaxRegions)) {
        const bool row = !options.transposed && isOneRow(s, region);
        const bool columns = !row && byColumns(k, s, region);
        const GemmConvWork work{row       ? 1
                                : columns ? region.cols
                                          : region.rows,
                                row       ? region.rows * region.cols
                                : columns ? region.rows
                                          : region.cols,
                                double(region.taps.size()), false};
        sum += gemmConvCycles(k, s, packed, work) - weights + s.batch * panels * kRegionCall;
    }
    return sum;
}

std::unique_ptr<ConvPlan> makeClipped(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    GemmWeightOptions weights;
    weights.groups = options.groups;
    weights.transposed = options.transposed;
    if (options.groups == 1 && !options.transposed) weights.quantization = options.quantization;
    return std::make_unique<ClippedPlan>(k, s, weights, clippedGeometry(k, s, options.transposed));
}

}  // namespace

const ConvImplementation kClippedConv{"clipped", acceptsClipped, clippedCycles, makeClipped, true};

}  // namespace mnnc
