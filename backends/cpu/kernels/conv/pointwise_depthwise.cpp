// Plans and runs the pair of convolutions, a panel of a few rows at a time.
#include "backends/cpu/kernels/conv/pointwise_depthwise.h"

#include "backends/cpu/kernels/conv_packing.h"

namespace mnnc {
namespace {

// Returns into how many pieces the rows of every panel are cut. Each piece computes rows of the map between again, in
// the time of `again` rows of the result.
int piecesFor(int panels, int rows, int again, int threads) {
    if (threads == 1) return 1;
    const int maxPieces = std::max(1, rows / 8);
    int pieces = std::min(maxPieces, ceilDiv(2 * threads, panels));
    while (panels * pieces % threads != 0 && panels * pieces < 8 * threads && pieces < maxPieces) ++pieces;
    if (panels * pieces >= 2 * threads) return pieces;
    // Some threads would wait for others: smaller pieces are better where what they compute again takes less time.
    const auto time = [&](int n) { return int64_t{ceilDiv(panels * n, threads)} * (ceilDiv(rows, n) + again); };
    for (int n = pieces + 1; n <= rows / 2; ++n)
        if (time(n) < time(pieces)) pieces = n;
    return pieces;
}

}  // namespace

std::unique_ptr<PointwiseDepthwisePlan> PointwiseDepthwisePlan::make(const Kernels& k, const ConvShape& pointwise,
                                                                     const ConvOptions& pointwiseOptions,
                                                                     const ConvShape& depthwise) {
    if (depthwise.oc != depthwise.ic || depthwise.oc == 1) return nullptr;  // a single channel is a dense convolution
    std::unique_ptr<ConvPlan> first = makeConvPlan(k, pointwise, pointwiseOptions);
    if (!first->tileable()) return nullptr;
    auto second = makeConvPlan(k, depthwise, depthwise.oc, pointwiseOptions.threads);
    return std::unique_ptr<PointwiseDepthwisePlan>(
        new PointwiseDepthwisePlan(k, std::move(first), std::move(second), pointwise, depthwise));
}

PointwiseDepthwisePlan::PointwiseDepthwisePlan(const Kernels& k, std::unique_ptr<ConvPlan> pointwisePlan,
                                               std::unique_ptr<ConvPlan> depthwisePlan, const ConvShape& pointwise,
                                               const ConvShape& depthwise)
    : k_(k),
      pointwise_(std::move(pointwisePlan)),
      depthwise_(std::move(depthwisePlan)),
      p_(pointwise),
      d_(depthwise),
      blocks_(ceilDiv(depthwise.oc, k.lanes)) {
    const TileableConv& tiles = *pointwise_->tileable();
    for (int i = 0; i < tiles.panelCount(); ++i) maxBlocks_ = std::max(maxBlocks_, tiles.panel(i).nb);
    const int window = (d_.kh - 1) * d_.dilateH + 1, again = std::max(0, window - d_.strideH);
    const size_t row = size_t(maxBlocks_) * d_.iw * k_.lanes * sizeof(float);
    const auto most = static_cast<size_t>(k.costs->cache.pointwiseDepthwiseStrip) / row;
    const int rows = static_cast<int>(std::min(most, size_t(d_.ih)));
    step_ = std::max(1, (rows - again) / d_.strideH);
    if (step_ > 1) step_ = step_ / 2 * 2;  // depthwise kernels take two rows at a time
    rows_ = std::min<int64_t>(d_.ih, int64_t{step_ - 1} * d_.strideH + window);
}

// The rows of the intermediate map that output row y reads: from firstRow(y) to before lastRow(y).
int PointwiseDepthwisePlan::firstRow(int y) const {
    return std::clamp(y * d_.strideH - d_.padTop, 0, d_.ih);
}
int PointwiseDepthwisePlan::lastRow(int y) const {
    return std::clamp(y * d_.strideH - d_.padTop + (d_.kh - 1) * d_.dilateH + 1, 0, d_.ih);
}

size_t PointwiseDepthwisePlan::stripFloats() const {
    return roundUpFloats(size_t(maxBlocks_) * rows_ * d_.iw * k_.lanes);
}

size_t PointwiseDepthwisePlan::threadFloats() const {
    return stripFloats() + roundUpFloats(pointwise_->tileable()->expandedBytes() / sizeof(float));
}

int64_t PointwiseDepthwisePlan::scratchBytes(int threads) const {
    return static_cast<int64_t>((std::max(1, threads) * threadFloats()) * sizeof(float));
}

// The arguments that the tasks of an image share.
struct PointwiseDepthwisePlan::Job {
    const float* src;
    float* dst;
    const Side& pointwise;
    const Side& depthwise;
};

void PointwiseDepthwisePlan::run(const float* src, const Side& pointwise, const Side& depthwise, float* dst,
                                 void* scratch, ThreadPool& pool) const {
    const int P = k_.lanes;
    float* strips = static_cast<float*>(scratch);
    const size_t each = threadFloats();
    const int panels = pointwise_->tileable()->panelCount();
    const int again = std::max(0, (d_.kh - 1) * d_.dilateH + 1 - d_.strideH);
    const int pieces = piecesFor(panels * d_.batch, d_.oh, ceilDiv(again, d_.strideH), pool.threads());
    // A thread makes the panels of the same rows one after another, because they read the same input.
    parallelSlots(pool, d_.batch * pieces * panels, [&](int slot, int task) {
        const int panel = task % panels, piece = task / panels % pieces, n = task / panels / pieces;
        const Job job{src + size_t(n) * ceilDiv(p_.ic, P) * P * p_.ih * p_.iw,
                      dst + size_t(n) * blocks_ * P * d_.oh * d_.ow, pointwise, depthwise};
        runPiece(job, panel, chunkBegin(d_.oh, piece, pieces), chunkBegin(d_.oh, piece + 1, pieces),
                 strips + slot * each);
    });
}

void PointwiseDepthwisePlan::runPiece(const Job& job, int panel, int begin, int end, float* strip) const {
    const TileableConv& tiles = *pointwise_->tileable();
    const OutPanel out = tiles.panel(panel);
    const int P = k_.lanes;
    const ptrdiff_t row = ptrdiff_t(d_.iw) * P, plane = rows_ * row;
    const float* weights = tiles.weightsOf(job.pointwise.packed, panel, strip + stripFloats());
    int base = firstRow(begin), made = base;  // the strip holds rows base .. made
    for (int y = begin; y < end;) {
        const int stop = std::min(end, y + step_), first = firstRow(y), need = lastRow(stop - 1);
        const int kept = std::max(0, made - first);
        for (int b = 0; b < out.nb && kept > 0; ++b)
            std::memmove(strip + b * plane, strip + b * plane + (first - base) * row, kept * row * sizeof(float));
        base = first;
        made = first + kept;
        if (made < need) {
            tiles.runPixels(job.src, weights, panel, made * d_.iw, need * d_.iw, strip + (made - base) * row, plane,
                            job.pointwise.post);
            made = need;
        }
        // The strip is a map of its own, which begins with row `base`.
        ConvShape shape = d_;
        shape.padTop += base;
        shape.ih -= base;
        for (int b = 0; b < out.nb; ++b) {
            const int block = out.block + b;
            DepthwiseArgs t = depthwiseArgs(shape, P, job.depthwise.packed, job.depthwise.post, block);
            t.src = strip + b * plane;
            t.dst = job.dst + size_t(block) * d_.oh * d_.ow * P;
            t.rowBegin = y;
            t.rowEnd = stop;
            k_.depthwise->forward(t);
        }
        y = stop;
    }
}

}  // namespace mnnc
