// Plans and runs the pair of convolutions, a panel of a few rows at a time.
#include "backends/cpu/kernels/conv/pointwise_depthwise.h"

#include "backends/cpu/kernels/conv_packing.h"

namespace mnnc {
namespace {

// Returns into how many pieces the rows of every panel are cut. Each piece computes some rows of the intermediate map
// once more, which takes as long as `again` rows of the result.
int piecesFor(int panels, int rows, int again, int threads) {
    if (threads == 1) return 1;
    const int maxPieces = std::max(1, rows / 8);
    int pieces = std::min(maxPieces, ceilDiv(2 * threads, panels));
    while (panels * pieces % threads != 0 && panels * pieces < 8 * threads && pieces < maxPieces) ++pieces;
    if (panels * pieces >= 2 * threads) return pieces;
    // Some threads would wait for others. Smaller pieces are better where the rows that they compute again take less
    // time than this wait.
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
    const int window = (d_.kh - 1) * d_.dilateH + 1;
    again_ = std::max(0, window - d_.strideH);
    const size_t row = size_t(maxBlocks_) * d_.iw * k_.lanes * sizeof(float);
    const auto maxRows = static_cast<size_t>(k.costs->cache.pointwiseDepthwiseStrip) / row;
    const int rows = static_cast<int>(std::min(maxRows, size_t(d_.ih)));
    step_ = std::max(1, (rows - again_) / d_.strideH);
    if (step_ > 1) step_ = step_ / 2 * 2;  // depthwise kernels take two rows at a time
    rows_ = std::min<int64_t>(d_.ih, int64_t{step_ - 1} * d_.strideH + window);
    band_ = static_cast<int>(bandRows());
}

// Without bands, each panel reads the whole input. With them, each band reads all weights, and the rows that two bands
// read are copied. That pays where the input is so large that other caches may not keep it either, and the weights
// need not be expanded for each band.
int64_t PointwiseDepthwisePlan::bandRows() const {
    constexpr int64_t kLargeInputs = 32;  // times CacheBudget::gemmInput, as measured
    const int64_t row = int64_t{ceilDiv(p_.ic, k_.lanes)} * k_.lanes * p_.iw * int64_t{sizeof(float)};
    const int64_t cache = k_.costs->cache.gemmInput, input = row * p_.ih;
    const int64_t fit = std::min(cache / row / d_.strideH, int64_t{d_.oh});
    const TileableConv& tiles = *pointwise_->tileable();
    if (input <= kLargeInputs * cache || fit < 1 || tiles.expandedBytes() > 0) return 0;
    const int64_t rows = fit > 1 ? fit / 2 * 2 : fit, panels = tiles.panelCount();
    const int64_t weights = pointwise_->packedWeightBytes() * ceilDiv(int64_t{d_.oh}, rows);
    return weights < input * (panels - 1) / 2 ? rows : 0;
}

// Output row y reads the rows from firstRow(y) to before lastRow(y) of the intermediate map.
int PointwiseDepthwisePlan::firstRow(int y) const {
    return std::clamp(y * d_.strideH - d_.padTop, 0, d_.ih);
}
int PointwiseDepthwisePlan::lastRow(int y) const {
    return std::clamp(y * d_.strideH - d_.padTop + (d_.kh - 1) * d_.dilateH + 1, 0, d_.ih);
}

size_t PointwiseDepthwisePlan::stripFloats() const {
    return roundUpFloats(size_t(maxBlocks_) * rows_ * d_.iw * k_.lanes);
}

int PointwiseDepthwisePlan::haloRows() const {
    return std::min(again_, d_.ih);
}

size_t PointwiseDepthwisePlan::haloFloats() const {
    return band_ ? roundUpFloats(size_t(maxBlocks_) * haloRows() * d_.iw * k_.lanes) : 0;
}

size_t PointwiseDepthwisePlan::threadFloats() const {
    const TileableConv& tiles = *pointwise_->tileable();
    return stripFloats() + roundUpFloats(tiles.expandedBytes() / sizeof(float)) + tiles.panelCount() * haloFloats();
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

PointwiseDepthwisePlan::Cut PointwiseDepthwisePlan::cutFor(int threads) const {
    const int panels = pointwise_->tileable()->panelCount(), again = ceilDiv(again_, d_.strideH);
    const auto cut = [&](int units) { return piecesFor(units * d_.batch, d_.oh, again, threads); };
    const auto time = [&](int units, int pieces) {
        return int64_t{ceilDiv(units * d_.batch * pieces, threads)} * (ceilDiv(d_.oh, pieces) + again);
    };
    const Cut each{cut(panels), false};
    if (band_ == 0) return each;
    const Cut bands{cut(1), true};
    return time(1, bands.pieces) * panels * 10 <= time(panels, each.pieces) * 11 ? bands : each;
}

void PointwiseDepthwisePlan::run(const float* src, const Side& pointwise, const Side& depthwise, float* dst,
                                 void* scratch, ThreadPool& pool) const {
    const int P = k_.lanes;
    float* memory = static_cast<float*>(scratch);
    const size_t each = threadFloats();
    const Cut cut = cutFor(pool.threads());
    const int panels = cut.byBands ? 1 : pointwise_->tileable()->panelCount();
    // A thread makes the panels of the same rows one after another, because they read the same input.
    parallelSlots(pool, d_.batch * cut.pieces * panels, [&](int slot, int task) {
        const int panel = task % panels, piece = task / panels % cut.pieces, n = task / panels / cut.pieces;
        const Job job{src + size_t(n) * ceilDiv(p_.ic, P) * P * p_.ih * p_.iw,
                      dst + size_t(n) * blocks_ * P * d_.oh * d_.ow, pointwise, depthwise};
        const Rows rows{chunkBegin(d_.oh, piece, cut.pieces), chunkBegin(d_.oh, piece + 1, cut.pieces)};
        float* own = memory + slot * each;
        cut.byBands ? runBands(job, rows, own) : runPanel(job, panel, rows, rows, own, nullptr);
    });
}

void PointwiseDepthwisePlan::runBands(const Job& job, Rows piece, float* memory) const {
    const int panels = pointwise_->tileable()->panelCount();
    float* halos = memory + threadFloats() - panels * haloFloats();
    for (int begin = piece.begin; begin < piece.end; begin += band_)
        for (int panel = 0; panel < panels; ++panel)
            runPanel(job, panel, {begin, std::min(piece.end, begin + band_)}, piece, memory,
                     halos + panel * haloFloats());
}

// Makes rows of a panel. At first `halo` holds the rows of the intermediate map that the previous band of the piece has
// made and this band reads, too; afterwards it holds those for the next band.
void PointwiseDepthwisePlan::runPanel(const Job& job, int panel, Rows rows, Rows piece, float* strip,
                                      float* halo) const {
    const TileableConv& tiles = *pointwise_->tileable();
    const OutPanel out = tiles.panel(panel);
    const int P = k_.lanes;
    const ptrdiff_t row = ptrdiff_t(d_.iw) * P, plane = rows_ * row, haloPlane = haloRows() * row;
    const float* weights = tiles.weightsOf(job.pointwise.packed, panel, strip + stripFloats());
    int base = firstRow(rows.begin), made = base;  // the strip holds rows base .. made
    if (rows.begin > piece.begin) {
        made = std::max(base, lastRow(rows.begin - 1));
        for (int b = 0; b < out.nb; ++b)
            std::memcpy(strip + b * plane, halo + b * haloPlane, (made - base) * row * sizeof(float));
    }
    for (int y = rows.begin; y < rows.end;) {
        const int stop = std::min(rows.end, y + step_), first = firstRow(y), need = lastRow(stop - 1);
        const int kept = std::max(0, made - first);
        for (int b = 0; b < out.nb && kept > 0 && first > base; ++b)
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
    if (rows.end == piece.end) return;
    const int next = firstRow(rows.end), kept = made - next;
    for (int b = 0; b < out.nb && kept > 0; ++b)
        std::memcpy(halo + b * haloPlane, strip + b * plane + (next - base) * row, kept * row * sizeof(float));
}

}  // namespace mnnc
