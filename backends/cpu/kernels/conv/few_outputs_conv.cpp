// Direct convolutions to a few outputs, which often end a net. Products run along the input channels: with one to three
// outputs most lanes of a vector of outputs would be empty. Taps outside of the map are skipped, so the input needs no
// border.
#include <algorithm>
#include <utility>
#include <vector>

#include "backends/cpu/kernels/conv/conv_cost.h"
#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/conv/conv_phases.h"
#include "backends/cpu/kernels/conv/few_outputs.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/kernels/gemm/panels.h"
#include "base/error.h"

namespace mnnc {
namespace {

// A region holds the outputs with the same taps inside of the map; a kernel of 15x15 has 225 regions.
constexpr size_t kMaxPlaneRegions = 256;
constexpr int kPiece = 240;  // pixels that one product takes
constexpr int kMaxOutputs = FewOutputsKernels::kMaxOutputs;

// The outputs of a region are cut into lines, which are rows or columns, whichever are longer. Lines are cut into
// pieces.
struct Lines {
    int count, length, pieces;
    bool columns;
};
Lines linesOf(const TapRegion& region) {
    const bool columns = region.rows > region.cols;
    const int length = columns ? region.rows : region.cols;
    return {columns ? region.cols : region.rows, length, ceilDiv(length, kPiece), columns};
}

class FewOutputsPlan final : public ConvPlan, FloatWeightPacker {
  public:
    FewOutputsPlan(const Kernels& k, const ConvShape& s)
        : k_(k), s_(s), icb_(ceilDiv(s.ic, k.lanes)), ocb_(ceilDiv(s.oc, k.lanes)) {
        const ConvPhase phase = convPhases(s, false)[0];
        for (TapRegion& region : tapRegions(s, false, kMaxPlaneRegions)) {
            PlannedRegion planned{linesOf(region), 0, {}, {}};
            for (const int tap : region.taps) {
                const ptrdiff_t y = ptrdiff_t(region.y) * s.strideH + phase.taps[tap].dy,
                                x = ptrdiff_t(region.x) * s.strideW + phase.taps[tap].dx;
                planned.offsets.push_back((y * s.iw + x) * k.lanes);
            }
            planned.dst = (ptrdiff_t(region.y) * s.ow + region.x) * k.lanes;
            planned.taps = std::move(region.taps);
            products_ += int64_t(planned.lines.count) * planned.lines.pieces;
            regions_.push_back(std::move(planned));
        }
    }

    std::string algorithm() const override { return "few outputs"; }
    int64_t packedWeightBytes() const override {
        return int64_t{s_.oc} * icb_ * k_.lanes * s_.kh * s_.kw * int64_t{sizeof(float)};
    }
    std::string weightVariant() const override { return format("few.p%d", k_.lanes); }
    int64_t scratchBytes(int) const override { return 0; }
    const FloatWeightPacker* floatPacker() const override { return this; }

    void run(const float* src, const void* packed, float* dst, const PostOps& post, void*,
             ThreadPool& pool) const override {
        const Job job{src, static_cast<const float*>(packed), dst, post};
        parallelRanges(pool, products_ * s_.batch, 4 * pool.threads(), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end;) {
                int64_t at = i % products_;
                size_t w = 0;
                const auto productsOf = [&] { return int64_t(regions_[w].lines.count) * regions_[w].lines.pieces; };
                for (; at >= productsOf(); ++w) at -= productsOf();
                for (const int64_t last = std::min(productsOf(), at + end - i); at < last; ++at, ++i)
                    runPiece(job, regions_[w], static_cast<int>(i / products_),
                             static_cast<int>(at / regions_[w].lines.pieces),
                             static_cast<int>(at % regions_[w].lines.pieces));
            }
        });
    }

  private:
    struct PlannedRegion {
        Lines lines;
        ptrdiff_t dst;
        std::vector<ptrdiff_t> offsets;  // of the taps, relative to the region's first pixel of the input
        std::vector<int> taps;
    };
    struct Job {
        const float* src;
        const float* packed;
        float* dst;
        const PostOps& post;
    };

    void runPiece(const Job& job, const PlannedRegion& planned, int n, int line, int piece) const {
        const int P = k_.lanes;
        const Lines& lines = planned.lines;
        const ptrdiff_t plane = ptrdiff_t(s_.ih) * s_.iw * P;
        const ptrdiff_t right = ptrdiff_t(s_.strideW) * P, down = ptrdiff_t(s_.strideH) * s_.iw * P;
        const ptrdiff_t dstDown = ptrdiff_t(s_.ow) * P;
        const int from = chunkBegin(lines.length, piece, lines.pieces);
        PanelArgs t{};
        t.pixelStride = lines.columns ? down : right;
        t.dstPixelStride = lines.columns ? dstDown : P;
        t.m = chunkBegin(lines.length, piece + 1, lines.pieces) - from;
        t.a = job.src + n * icb_ * plane + line * (lines.columns ? right : down) + from * t.pixelStride;
        const ptrdiff_t at = planned.dst + line * (lines.columns ? ptrdiff_t(P) : dstDown) + from * t.dstPixelStride;
        t.tapOffset = planned.offsets.data();
        t.tapRun = planned.taps.data();
        t.taps = static_cast<int>(planned.offsets.size());
        t.fullBlocks = s_.ic / P;
        t.tail = s_.ic % P;
        t.blockStride = plane;
        t.lo = job.post.lo;
        t.hi = job.post.hi;
        t.act = job.post.act;
        for (int c = 0; c < s_.oc; c += kMaxOutputs) {
            t.nb = std::min(kMaxOutputs, s_.oc - c);
            t.w = job.packed + size_t(c) * s_.kh * s_.kw * icb_ * P;
            t.bias = job.post.bias + c;
            const ptrdiff_t place = (ptrdiff_t(n) * ocb_ + c / P) * s_.oh * s_.ow * P + at + c % P;
            t.dst = job.dst + place;
            t.residual = job.post.residual ? job.post.residual + place : nullptr;
            fewOutputsKernels(k_.id).product(t, unaryKernels(k_.id).activate);
        }
    }

    // Order in memory: [some outputs][tap][block of channels][output][channel]
    void packFloats(const WeightReader& reader, void* packed, ThreadPool&) const override {
        const int P = k_.lanes, area = s_.kh * s_.kw;
        const float* weights = reader(0, size_t(s_.oc) * s_.ic * area);
        auto* to = static_cast<float*>(packed);
        for (int c = 0; c < s_.oc; c += kMaxOutputs)
            for (int tap = 0; tap < area; ++tap)
                for (int block = 0; block < icb_; ++block)
                    for (int o = c; o < std::min(s_.oc, c + kMaxOutputs); ++o)
                        for (int i = block * P; i < (block + 1) * P; ++i)
                            *to++ = i < s_.ic ? weights[(size_t(o) * s_.ic + i) * area + tap] : 0.0f;
    }

    const Kernels& k_;
    const ConvShape s_;
    const int icb_, ocb_;
    std::vector<PlannedRegion> regions_;
    int64_t products_ = 0;
};

bool acceptsFewOutputs(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return !options.transposed && !options.srcNchw && options.groups == 1 && !options.byRows &&
           options.quantization.bits == 0 && options.algorithm == ConvAlgorithm::Auto && s.oc <= k.lanes / 2 &&
           !convReadsNchw(s, options) && !roundsToBf16(k, s, options) &&
           !tapRegions(s, false, kMaxPlaneRegions).empty();
}

double fewOutputsCycles(const Kernels& k, const ConvShape& s, const ConvOptions&) {
    const FewOutputsKernels& kernels = fewOutputsKernels(k.id);
    const CycleCosts& costs = k.costs->cycles;
    const int passes = ceilDiv(s.oc, kMaxOutputs);
    double sum = double(s.oh) * s.ow * s.oc * costs.fewOutputsReduce;
    for (const TapRegion& region : tapRegions(s, false, kMaxPlaneRegions)) {
        const Lines lines = linesOf(region);
        const double steps = double(region.taps.size()) * ceilDiv(s.ic, k.lanes);
        sum += lines.count * (steps * gemmCycles(costs.tile, kernels.maxRows, lines.length, s.oc, kMaxOutputs) +
                              double(lines.pieces) * passes * costs.fewOutputsCall);
    }
    return s.batch * sum;
}

std::unique_ptr<ConvPlan> makeFewOutputs(const Kernels& k, const ConvShape& s, const ConvOptions&) {
    return std::make_unique<FewOutputsPlan>(k, s);
}

}  // namespace

const ConvImplementation kFewOutputsConv{"few_outputs", acceptsFewOutputs, fewOutputsCycles, makeFewOutputs, true};

}  // namespace mnnc
