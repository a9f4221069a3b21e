// Dilated convolutions: pixels that are a dilation apart form a map of their own, whose convolution is dense, so that
// Winograd's algorithm applies. Input and output are copied between the two orders.
#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/conv/conv_cost.h"
#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "base/checked.h"

namespace mnnc {
namespace {

// Returns the shape of one of the dilateH x dilateW dense maps, which take the place of images of the batch. It has as
// many outputs as the largest map, and the inputs that these read, including zeros beside the map.
ConvShape denseShape(const ConvShape& s) {
    ConvShape dense = s;
    dense.batch = s.batch * s.dilateH * s.dilateW;
    dense.oh = ceilDiv(s.oh, s.dilateH);
    dense.ow = ceilDiv(s.ow, s.dilateW);
    dense.ih = dense.oh + s.kh - 1;
    dense.iw = dense.ow + s.kw - 1;
    dense.dilateH = dense.dilateW = 1;
    dense.padTop = dense.padLeft = 0;
    return dense;
}

class DilatedPlan final : public ConvPlan {
  public:
    DilatedPlan(const Kernels& k, const ConvShape& s, const ConvOptions& options)
        : k_(k),
          s_(s),
          dense_(denseShape(s)),
          plan_(chooseConv(k, dense_, options).make(k, dense_, options)),
          inFloats_(floatsOf(dense_.ic, dense_.ih, dense_.iw)),
          outFloats_(floatsOf(dense_.oc, dense_.oh, dense_.ow)) {}

    std::string algorithm() const override { return "dilated " + plan_->algorithm(); }
    int64_t packedWeightBytes() const override { return plan_->packedWeightBytes(); }
    std::string weightVariant() const override { return plan_->weightVariant(); }
    const FloatWeightPacker* floatPacker() const override { return plan_->floatPacker(); }
    const QuantizedWeightPacker* quantizedPacker() const override { return plan_->quantizedPacker(); }
    bool addsInPlace() const override { return true; }  // residuals are copied before anything is stored

    int64_t scratchBytes(int threads) const override {
        return checkedAdd(checkedMul(inFloats_ + 2 * outFloats_, int64_t{sizeof(float)}, "scratch"),
                          plan_->scratchBytes(threads), "scratch");
    }

    void run(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
             ThreadPool& pool) const override {
        auto* in = static_cast<float*>(scratch);
        float *out = in + inFloats_, *residual = out + outFloats_;
        const int icb = ceilDiv(s_.ic, k_.lanes), ocb = ceilDiv(s_.oc, k_.lanes);
        const Side input{s_.ih, s_.iw, s_.padTop, s_.padLeft, dense_.ih, dense_.iw, icb};
        const Side output{s_.oh, s_.ow, 0, 0, dense_.oh, dense_.ow, ocb};
        forEachRow(input, pool, [&](const Row& row) { gather(input, row, src, in); });
        PostOps inner = post;
        if (post.residual) {
            forEachRow(output, pool, [&](const Row& row) { gather(output, row, post.residual, residual); });
            inner.residual = residual;
        }
        plan_->run(in, packed, out, inner, residual + outFloats_, pool);
        forEachRow(output, pool, [&](const Row& row) { scatter(output, row, out, dst); });
    }

  private:
    // A map in its own order, and the dense maps that its pixels form.
    struct Side {
        int height, width, padTop, padLeft;
        int denseHeight, denseWidth;
        int blocks;
    };
    // A row of a dense map, of one block of channels.
    struct Row {
        int n, dy, dx, block, i;
    };

    int64_t floatsOf(int channels, int height, int width) const {
        const int64_t pixels = checkedMul(int64_t{dense_.batch} * height, width, "scratch");
        return static_cast<int64_t>(
            roundUpFloats(checkedMul(pixels, int64_t{ceilDiv(channels, k_.lanes)} * k_.lanes, "scratch")));
    }

    template <typename Body>
    void forEachRow(const Side& side, ThreadPool& pool, Body&& body) const {
        const int64_t rows = int64_t(dense_.batch) * side.blocks * side.denseHeight;
        parallelRanges(pool, rows, 4 * pool.threads(), [&](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r) {
                const int64_t map = r / side.denseHeight / side.blocks;
                const int dx = static_cast<int>(map % s_.dilateW), dy = static_cast<int>(map / s_.dilateW % s_.dilateH);
                body(Row{static_cast<int>(map / s_.dilateW / s_.dilateH), dy, dx,
                         static_cast<int>(r / side.denseHeight % side.blocks), static_cast<int>(r % side.denseHeight)});
            }
        });
    }

    // Returns where the row begins in the dense maps, in floats.
    ptrdiff_t denseOffset(const Side& side, const Row& row) const {
        const int64_t map = (int64_t(row.n) * s_.dilateH + row.dy) * s_.dilateW + row.dx;
        return ((map * side.blocks + row.block) * side.denseHeight + row.i) * side.denseWidth * k_.lanes;
    }

    // The pixels of the map that the row holds: none, or every dilateW-th one of line y from x on.
    struct Line {
        int y, x;
        int before, count;  // pixels of the dense row before the map, and inside of it
    };
    Line lineOf(const Side& side, const Row& row) const {
        Line line{row.dy - side.padTop + row.i * s_.dilateH, row.dx - side.padLeft, 0, 0};
        if (line.y < 0 || line.y >= side.height) return line;
        line.before = line.x < 0 ? std::min(ceilDiv(-line.x, s_.dilateW), side.denseWidth) : 0;
        line.x += line.before * s_.dilateW;
        const int room = line.x < side.width ? ceilDiv(side.width - line.x, s_.dilateW) : 0;
        line.count = std::min(room, side.denseWidth - line.before);
        return line;
    }

    // Returns where the line's first pixel lies in the map, in floats.
    ptrdiff_t pixelOffset(const Side& side, const Row& row, const Line& line) const {
        const int64_t block = int64_t(row.n) * side.blocks + row.block;
        return ((block * side.height + line.y) * side.width + line.x) * k_.lanes;
    }

    void gather(const Side& side, const Row& row, const float* map, float* dense) const {
        const int P = k_.lanes;
        const Line line = lineOf(side, row);
        float* to = dense + denseOffset(side, row);
        float* const end = to + ptrdiff_t(side.denseWidth) * P;
        if (line.count > 0) {
            to = std::fill_n(to, ptrdiff_t(line.before) * P, 0.0f);
            const float* from = map + pixelOffset(side, row, line);
            for (int i = 0; i < line.count; ++i, from += ptrdiff_t(s_.dilateW) * P, to += P)
                std::memcpy(to, from, P * sizeof(float));
        }
        std::fill(to, end, 0.0f);
    }

    void scatter(const Side& side, const Row& row, const float* dense, float* map) const {
        const int P = k_.lanes;
        const Line line = lineOf(side, row);
        if (line.count <= 0) return;
        const float* from = dense + denseOffset(side, row);
        float* to = map + pixelOffset(side, row, line);
        for (int i = 0; i < line.count; ++i, from += P, to += ptrdiff_t(s_.dilateW) * P)
            std::memcpy(to, from, P * sizeof(float));
    }

    const Kernels& k_;
    const ConvShape s_, dense_;
    const std::unique_ptr<ConvPlan> plan_;
    const int64_t inFloats_, outFloats_;
};

bool acceptsDilated(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return !options.transposed && !options.srcNchw && !options.byRows && fillsVectors(k, s, options.groups) &&
           options.algorithm == ConvAlgorithm::Auto && s.strideH == 1 && s.strideW == 1 &&
           (s.dilateH > 1 || s.dilateW > 1) && s.dilateH <= s.oh && s.dilateW <= s.ow &&
           int64_t{s.batch} * s.dilateH * s.dilateW <= INT_MAX;
}

double dilatedCycles(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    const ConvShape dense = denseShape(s);
    const double in = double(ceilDiv(s.ic, k.lanes)) * dense.ih * dense.iw,
                 out = double(ceilDiv(s.oc, k.lanes)) * dense.oh * dense.ow;
    return chooseConv(k, dense, options).cycles(k, dense, options) +
           dense.batch * (in + 2 * out) * k.costs->cycles.copy;
}

std::unique_ptr<ConvPlan> makeDilated(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return std::make_unique<DilatedPlan>(k, s, options);
}

}  // namespace

const ConvImplementation kDilatedConv{"dilated", acceptsDilated, dilatedCycles, makeDilated, true};

}  // namespace mnnc
