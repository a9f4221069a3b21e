// Products row by row, which direct and transposed convolutions use: of floats or of bf16.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/conv/conv_cost.h"
#include "backends/cpu/kernels/conv/gemm_conv.h"
#include "backends/cpu/kernels/conv/gemm_conv_bf16.h"
#include "backends/cpu/kernels/conv_packing.h"

namespace mnnc {
namespace {

// Reads the input itself, or a copy of it where a tap leaves the map.
class RowGemmPlan final : public GemmConvPlan {
  public:
    RowGemmPlan(const Kernels& k, const ConvShape& shape, const GemmWeightOptions& options, const RowGeometry& geometry,
                const char* algorithm)
        : GemmConvPlan(k, shape, options, geometry),
          algorithm_(algorithm),
          extent_(geometry.extent),
          row_(geometry.row),
          plane_(geometry.plane),
          paddedFloats_(extent_.hasBorder(shape) ? roundUpFloats(size_t(icb_) * plane_) : 0) {}

    std::string algorithm() const override { return algorithm_ + weights_.suffix(); }

  private:
    size_t sourceBytes(int) const override { return paddedFloats_ * sizeof(float); }

    void runImage(const GemmImage& image, ThreadPool& pool) const override {
        const float* src = image.src;
        if (paddedFloats_) {
            pad(src, reinterpret_cast<float*>(image.memory), pool);
            src = reinterpret_cast<const float*>(image.memory);
        }
        runSource(image, GemmSource<float>{src, plane_, 0}, pool);
    }

    void pad(const float* src, float* dst, ThreadPool& pool) const {
        const int P = k_.lanes, height = extent_.height;
        const size_t line = size_t(s_.iw) * P;
        parallelRanges(pool, int64_t(icb_) * height, 4 * pool.threads(), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                const int c = static_cast<int>(i / height), y = static_cast<int>(i % height) - extent_.top;
                float* to = dst + i * row_;
                if (y < 0 || y >= s_.ih) {
                    std::fill(to, to + row_, 0.0f);
                    continue;
                }
                std::fill(to, to + extent_.left * P, 0.0f);
                to += extent_.left * P;
                std::memcpy(to, src + (size_t(c) * s_.ih + y) * line, line * sizeof(float));
                std::fill(to + line, dst + (i + 1) * row_, 0.0f);
            }
        });
    }

    const std::string algorithm_;
    const TapExtent extent_;
    const ptrdiff_t row_, plane_;
    const size_t paddedFloats_;
};

// A strip includes its part of the border.
class Bf16RowGemmPlan final : public Bf16GemmConvPlan {
  public:
    Bf16RowGemmPlan(const Kernels& k, const ConvShape& shape, const GemmWeightOptions& options,
                    const RowGeometry& geometry, const char* algorithm)
        : Bf16GemmConvPlan(k, shape, options, geometry, geometry.extent.height, geometry.extent.tapRows),
          algorithm_(algorithm),
          extent_(geometry.extent),
          row_(geometry.row) {}

    std::string algorithm() const override { return algorithm_ + "." + k_.bf16->type + weights_.suffix(); }

  private:
    void fillStrip(const float* image, Positions rows, uint16_t* strip, int64_t begin, int64_t end) const override {
        const int P = k_.lanes;
        for (int64_t i = begin; i < end; ++i) {
            const int c = static_cast<int>(i / rows.count);
            const int y = rows.first + static_cast<int>(i % rows.count) - extent_.top;
            uint16_t* to = strip + i * row_;
            uint16_t* const rowEnd = to + row_;
            if (y >= 0 && y < s_.ih) {
                std::fill(to, to + extent_.left * P, uint16_t{0});
                to += extent_.left * P;
                k_.bf16->convertBlock(image + (ptrdiff_t(c) * s_.ih + y) * s_.iw * P, P, s_.iw,
                                      std::min(P, s_.ic - c * P), to);
                to += s_.iw * P;
            }
            std::fill(to, rowEnd, uint16_t{0});
        }
    }

    const std::string algorithm_;
    const TapExtent extent_;
    const ptrdiff_t row_;
};

}  // namespace

RowGeometry rowGeometry(const Kernels& k, const ConvShape& s, bool transposed) {
    const int P = k.lanes, stepY = transposed ? 1 : s.strideH, stepX = transposed ? 1 : s.strideW;
    const int phaseY = transposed ? s.strideH : 1, phaseX = transposed ? s.strideW : 1;
    const int icb = ceilDiv(s.ic, P), ocb = ceilDiv(s.oc, P);
    RowGeometry g;
    g.phases = convPhases(s, transposed);
    g.extent = tapExtent(s, g.phases, stepY, stepX);
    g.row = ptrdiff_t(g.extent.width) * P;
    g.plane = g.extent.height * g.row;
    for (const ConvPhase& phase : g.phases) {
        OutputWalk walk;
        walk.phase = g.walks.size();
        walk.units = phase.rows;
        walk.columns = phase.cols;
        walk.step = stepY;
        walk.position = g.row;
        walk.pixel = ptrdiff_t(stepX) * P;
        walk.dst = (ptrdiff_t(phase.py) * s.ow + phase.px) * P;
        walk.dstUnit = ptrdiff_t(phaseY) * s.ow * P;
        walk.dstPixel = ptrdiff_t(phaseX) * P;
        walk.dstBlock = ptrdiff_t(s.oh) * s.ow * P;
        g.walks.push_back(walk);
        std::vector<ptrdiff_t>& offsets = g.tapOffsets.emplace_back();
        for (const ConvTap& t : phase.taps)
            offsets.push_back((t.dy + g.extent.top) * g.row + ptrdiff_t(t.dx + g.extent.left) * P);
    }
    g.images = s.batch;
    g.srcImage = size_t(icb) * P * s.ih * s.iw;
    g.dstImage = size_t(ocb) * P * s.oh * s.ow;
    g.unitElements = int64_t(icb) * g.row * stepY;
    return g;
}

std::unique_ptr<ConvPlan> makeRowGemmPlan(const Kernels& k, const ConvShape& s, const ConvOptions& options,
                                          const char* algorithm) {
    GemmWeightOptions weights;
    weights.groups = options.groups;
    weights.onePacking = options.onePacking;
    weights.transposed = options.transposed;
    weights.bf16 = roundsToBf16(k, s, options);
    if (!options.transposed && options.groups == 1) weights.quantization = options.quantization;
    const RowGeometry geometry = rowGeometry(k, s, options.transposed);
    if (weights.bf16) return std::make_unique<Bf16RowGemmPlan>(k, s, weights, geometry, algorithm);
    return std::make_unique<RowGemmPlan>(k, s, weights, geometry, algorithm);
}

}  // namespace mnnc
