// Convolutions of up to four channels, which often begin a net. Products read planes of one channel each; the taps of a
// kernel row, which lie side by side, take the place of channels. The input may be row-major.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/conv/conv_cost.h"
#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/conv/gemm_conv.h"
#include "backends/cpu/kernels/conv_packing.h"

namespace mnnc {
namespace {

// Where taps leave the map or the input is packed, the input's rows are copied strip by strip, each just before its
// products.
struct PlaneGeometry : GemmGeometry {
    TapExtent extent;
    ptrdiff_t plane = 0;     // floats of a channel's rows in the source
    int stripRows = 0;       // rows of outputs that a strip serves
    size_t stripFloats = 0;  // 0: products read the input itself
};

// Chooses enough strips for any number of threads: results do not depend on the number, but memory does.
void placeStrips(const Kernels& k, const ConvShape& s, PlaneGeometry& g) {
    const int64_t row = int64_t(s.ic) * g.extent.width * int64_t(sizeof(float));
    const int64_t maxRows =
        std::max(int64_t{1}, (k.costs->cache.firstLayerStrip / row - g.extent.tapRows) / s.strideH + 1);
    constexpr int kMinStrips = 32;
    const int strips =
        std::max(ceilDiv(s.oh, static_cast<int>(std::min<int64_t>(maxRows, s.oh))), std::min(s.oh, kMinStrips));
    g.stripRows = ceilDiv(s.oh, strips);
    g.plane = ((g.stripRows - 1) * ptrdiff_t(s.strideH) + g.extent.tapRows) * g.extent.width;
    g.stripFloats = roundUpFloats(size_t(s.ic) * g.plane);
}

PlaneGeometry planeGeometry(const Kernels& k, const ConvShape& s, bool nchw) {
    const int P = k.lanes;
    PlaneGeometry g;
    g.phases = convPhases(s, false);
    g.extent = tapExtent(s, g.phases, s.strideH, s.strideW);
    const int width = g.extent.width;
    g.plane = ptrdiff_t(g.extent.height) * width;
    if (g.extent.hasBorder(s) || !nchw) placeStrips(k, s, g);
    OutputWalk walk;
    walk.units = s.oh;
    walk.columns = s.ow;
    walk.step = s.strideH;
    walk.position = width;
    walk.pixel = s.strideW;
    walk.dstUnit = ptrdiff_t(s.ow) * P;
    walk.dstPixel = P;
    walk.dstBlock = ptrdiff_t(s.oh) * s.ow * P;
    g.walks.push_back(walk);
    std::vector<ptrdiff_t>& offsets = g.tapOffsets.emplace_back();
    for (int c = 0; c < s.ic; ++c) {
        for (const ConvTap& t : g.phases[0].taps) {
            if (s.dilateW == 1 && t.kx != 0) continue;  // the first tap of its row reads it, too
            offsets.push_back(c * g.plane + (t.dy + g.extent.top) * ptrdiff_t(width) + t.dx + g.extent.left);
        }
    }
    g.images = s.batch;
    g.srcImage = size_t(nchw ? s.ic : ceilDiv(s.ic, P) * P) * s.ih * s.iw;
    g.dstImage = size_t(ceilDiv(s.oc, P)) * P * s.oh * s.ow;
    g.unitElements = int64_t(s.ic) * width * s.strideH;
    return g;
}

GemmWeightOptions weightOptions(const ConvShape& s) {
    GemmWeightOptions options;
    options.rowTaps = s.dilateW == 1 ? s.kw : 1;
    return options;
}

class FirstLayerPlan final : public GemmConvPlan {
  public:
    FirstLayerPlan(const Kernels& k, const ConvShape& shape, bool nchw, const PlaneGeometry& geometry)
        : GemmConvPlan(k, shape, weightOptions(shape), geometry),
          nchw_(nchw),
          extent_(geometry.extent),
          plane_(geometry.plane),
          stripRows_(geometry.stripRows),
          stripFloats_(geometry.stripFloats) {}

    std::string algorithm() const override { return "first"; }

  private:
    size_t sourceBytes(int threads) const override { return stripFloats_ * sizeof(float) * threads; }

    int64_t cacheUnits(int threads) const override {
        const int64_t units = GemmConvPlan::cacheUnits(threads);
        return threads > 1 ? std::min<int64_t>(units, ceilDiv(s_.oh, 4 * threads)) : units;
    }

    void runImage(const GemmImage& image, ThreadPool& pool) const override {
        if (!stripFloats_) return runSource(image, GemmSource<float>{image.src, plane_, 0}, pool);
        parallelSlots(pool, ceilDiv(s_.oh, stripRows_), [&](int slot, int chunk) {
            float* strip = reinterpret_cast<float*>(image.memory) + slot * stripFloats_;
            const int u0 = chunk * stripRows_, u1 = std::min(s_.oh, u0 + stripRows_);
            fillStrip(image.src, u0, u1, strip);
            runPanels(image, GemmSource<float>{strip, plane_, u0 * s_.strideH}, 0, {0, panelCount()}, false, u0, u1,
                      slot);
        });
    }

    // Copies the rows that outputs u0 .. u1 read, of every channel.
    void fillStrip(const float* src, int u0, int u1, float* strip) const {
        const int P = k_.lanes, rows = (u1 - u0 - 1) * s_.strideH + extent_.tapRows;
        for (int c = 0; c < s_.ic; ++c) {
            for (int i = 0; i < rows; ++i) {
                const int y = u0 * s_.strideH + i - extent_.top;
                float* to = strip + c * plane_ + i * ptrdiff_t(extent_.width);
                float* const end = to + extent_.width;
                if (y < 0 || y >= s_.ih) {
                    std::fill(to, end, 0.0f);
                    continue;
                }
                std::fill(to, to + extent_.left, 0.0f);
                to += extent_.left;
                if (nchw_) {
                    std::memcpy(to, src + (size_t(c) * s_.ih + y) * s_.iw, size_t(s_.iw) * sizeof(float));
                } else {
                    const float* from = src + (size_t(c / P) * s_.ih + y) * s_.iw * P + c % P;
                    for (int x = 0; x < s_.iw; ++x) to[x] = from[size_t(x) * P];
                }
                std::fill(to + s_.iw, end, 0.0f);
            }
        }
    }

    const bool nchw_;
    const TapExtent extent_;
    const ptrdiff_t plane_;
    const int stripRows_;
    const size_t stripFloats_;
};

bool acceptsFirstLayer(const Kernels&, const ConvShape& s, const ConvOptions& options) {
    return !options.transposed && !isFullyConnected(s, options) && convReadsNchw(s, options) &&
           (s.kh * s.kw > 1 || options.srcNchw);
}

double firstLayerCycles(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    ConvOptions packed = options;
    packed.quantization = {};  // these weights do not stay quantised
    return gemmConvCycles(k, s, packed, {s.oh, s.ow, double(s.kh) * s.kw, true});
}

std::unique_ptr<ConvPlan> makeFirstLayer(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return std::make_unique<FirstLayerPlan>(k, s, options.srcNchw, planeGeometry(k, s, options.srcNchw));
}

}  // namespace

const ConvImplementation kFirstLayerConv{"first_layer", acceptsFirstLayer, firstLayerCycles, makeFirstLayer};

}  // namespace mnnc
