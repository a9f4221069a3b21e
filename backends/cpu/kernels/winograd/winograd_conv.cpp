// Decides when Winograd convolutions are accepted, estimates their cycles, and cuts their tiles into chunks.
#include <algorithm>
#include <climits>
#include <cstdint>
#include <limits>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/conv/conv_cost.h"
#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/gemm/panels.h"
#include "backends/cpu/kernels/winograd/winograd_plan.h"
#include "backends/cpu/kernels/winograd/winograd_weights.h"

namespace mnnc {
namespace {

// The transforms of larger tiles multiply the rounding error of bf16. On whole nets, F(2,3) is as exact as a direct
// product, F(4,3) has 3 to 7 times its error, F(6,3) 7 to 20 times.
constexpr int kMaxBf16Side = 4;
// Weights that are transformed in panels are used for all tiles at once. The transforms of the tiles may take so many
// times the second level cache.
constexpr int kMaxTapChunks = 4;
// The bytes of the transformed weights of one convolution. Weights that would take more are transformed in panels by
// each run.
constexpr int64_t kMaxTransformedWeights = 32 << 20;
// Transforming a weight takes as long as its products with ten tiles. With kManyTiles tiles or more it costs no more
// than reading transformed weights from memory. This was measured with up to kMaxWeightsAtOnce bytes of weights.
constexpr int kManyTiles = 256;
constexpr int64_t kMaxWeightsAtOnce = 4 << 20;
// The minimum number of tiles of a chunk for which it pays that each thread has chunks of its own.
constexpr int kMinChunkTiles = 18;
// The cycles of a call that multiplies a block, beside those of its products.
constexpr double kBlockCall = 10;
// A factor on the traffic of a block's weights, which products of few tiles do not hide.
constexpr double kBlockTraffic = 1.2;
// The lines of weights that are read in about the time of one line that another core has written.
constexpr double kForeignLine = 4;

int tilesOf(const ConvShape& s, WinogradForm form) {
    return s.batch * ceilDiv(s.oh, form.unitH()) * ceilDiv(s.ow, form.unitW());
}

// Returns whether input and output have one block of channels each.
bool isBlock(const Kernels& k, const ConvShape& s) {
    return s.ic == k.lanes && s.oc <= k.lanes;
}

// The costs of a form are those of F(M, 3) with as many points, or about as many.
int costIndex(WinogradForm form) {
    return std::max(1, form.side() / 2 - 1);
}

int64_t transformedBytes(const Kernels& k, const ConvShape& s, WinogradForm form) {
    return int64_t{form.pointWeights()} * s.ic * ceilDiv(s.oc, k.lanes) * k.lanes * int64_t{sizeof(float)};
}

bool accepts(const ConvShape& s, const ConvOptions& options, WinogradForm form) {
    const ConvAlgorithm name = form.unit == 2   ? ConvAlgorithm::Winograd2
                               : form.unit == 4 ? ConvAlgorithm::Winograd4
                                                : ConvAlgorithm::Winograd6;
    // Along an axis without taps, tiles are not cut at a border.
    return !options.transposed && !options.srcNchw && options.groups == 1 && s.ic > 4 && s.kh == form.tapsH() &&
           s.kw == form.tapsW() && s.strideH == form.strideH() && s.strideW == form.strideW() && s.dilateH == 1 &&
           s.dilateW == 1 && (form.alongHeight() || (s.padTop == 0 && s.oh == s.ih)) &&
           (form.alongWidth() || (s.padLeft == 0 && s.ow == s.iw)) &&
           int64_t{s.batch} * ceilDiv(s.oh, form.unitH()) * ceilDiv(s.ow, form.unitW()) <= INT_MAX &&
           (options.algorithm == ConvAlgorithm::Auto || options.algorithm == name);
}

double cycles(const Kernels& k, const ConvShape& s, const ConvOptions& options, WinogradForm form) {
    const CycleCosts& costs = k.costs->cycles;
    const bool bf16 = winogradUsesBf16(k, s, options, form);
    const int icb = ceilDiv(s.ic, k.lanes), ocb = ceilDiv(s.oc, k.lanes);
    const int tiles = tilesOf(s, form), points = form.points();
    // It can only pay if its products are fewer than those of a direct convolution.
    const int64_t direct = int64_t{s.batch} * s.oh * s.ow * form.weights();
    if (options.algorithm == ConvAlgorithm::Auto && int64_t{tiles} * points >= direct)
        return std::numeric_limits<double>::infinity();
    const WinogradTaps taps = winogradTaps(k, s, options, form);
    const int chunks = taps == WinogradTaps::InPanels ? 1 : winogradChunkCount(k, s, form);
    const int m = ceilDiv(tiles, chunks);
    const int nb = bestPanelBlocks(k, options.onePacking ? kUsualPixels : std::min(m, kUsualPixels), ocb);
    // A panel's weights are transformed and multiplied a slice at a time.
    const int slices = taps == WinogradTaps::InPanels
                           ? ceilDiv(s.ic, winogradSlice(k, form.pointWeights() * nb * k.lanes * int{sizeof(float)}))
                           : 1;
    const double product =
        winogradMultipliesBlock(k, s, options, form)
            ? points * (double(m) * k.lanes / costs.tile.multiplyAdds * costs.gemmOverhead + kBlockCall)
            : points *
                  (double(s.ic) * (bf16 ? 0.5 : 1.0) * gemmCycles(k, m, ocb, nb) + slices * costs.winogradCall * ocb);
    // The costs are those of two passes, one along each axis.
    const double passes = form.axes == WinogradForm::Axes::Both ? 1 : 0.5;
    const double in = passes * costs.winogradIn[costIndex(form)], out = passes * costs.winogradOut[costIndex(form)];
    const double transforms = double(tiles) * points * (icb * (in + (bf16 ? costs.winogradRound : 0.0)) + ocb * out);
    const double weights = double(form.pointWeights()) * s.ic * ocb * k.lanes * (bf16 ? 2 : 4);
    const double vectors = double(s.ic) * ocb;
    if (taps == WinogradTaps::InPanels) {
        // The transforms of all tiles at once may not fit the cache: then they are written to the next level and read
        // again.
        const double bytes = double(tiles) * points * (icb + ocb) * k.lanes * 4;
        const double spilled = winogradChunkCount(k, s, form) > 1 ? 2 * bytes / costs.weightBytesPerCycle : 0.0;
        const double expansion =
            form.pointWeights() * vectors * passes * costs.winogradTaps[costIndex(form)] * form.taps / 3;
        return transforms + spilled + withTraffic(k, product + expansion, form.weights() * vectors * k.lanes * 4);
    }
    if (options.quantization.bits) {
        if (chunks > 1 && weights > costs.maxWinogradDequantized) return std::numeric_limits<double>::infinity();
        return chunks * product + transforms +
               form.pointWeights() * vectors * (bf16 ? costs.winogradDequantizeBf16 : costs.winogradDequantize);
    }
    // A chunk has enough tiles for efficient products; with many channels, its transforms do not fit the cache.
    const double bytes = double(tiles) * points * (icb + ocb) * k.lanes * 4;
    const double firstChunk = winogradMultipliesBlock(k, s, options, form)
                                  ? product + kBlockTraffic * weights / costs.weightBytesPerCycle
                                  : withTraffic(k, product, weights);
    return (chunks - 1) * product + transforms + spilledCycles(k, bytes, chunks, 4) + firstChunk;
}

template <WinogradForm Form>
constexpr ConvImplementation implementation(const char* name) {
    return {
        .name = name,
        .accepts = [](const Kernels&, const ConvShape& s,
                      const ConvOptions& options) { return accepts(s, options, Form); },
        .cycles = [](const Kernels& k, const ConvShape& s,
                     const ConvOptions& options) { return cycles(k, s, options, Form); },
        .make = [](const Kernels& k, const ConvShape& s,
                   const ConvOptions& options) { return makeWinogradPlan(k, s, Form, options); },
        .contests = true,
        .storesPhases = true,
    };
}

constexpr auto kRows = WinogradForm::Axes::Rows, kColumns = WinogradForm::Axes::Columns,
               kBoth = WinogradForm::Axes::Both;

}  // namespace

bool winogradUsesBf16(const Kernels& k, const ConvShape& s, const ConvOptions& options, WinogradForm form) {
    return form.side() <= kMaxBf16Side && roundsToBf16(k, s, options);
}

bool winogradMultipliesBlock(const Kernels& k, const ConvShape& s, const ConvOptions& options, WinogradForm form) {
    return isBlock(k, s) && !options.quantization.bits && !winogradUsesBf16(k, s, options, form) &&
           winogradTaps(k, s, options, form) == WinogradTaps::Transformed;
}

// Where convolutions of several maps share one packing, weights are stored transformed: the runs of small maps would
// have to transform them, too.
WinogradTaps winogradTaps(const Kernels& k, const ConvShape& s, const ConvOptions& options, WinogradForm form) {
    if (options.quantization.bits || options.onePacking || options.byRows || winogradUsesBf16(k, s, options, form))
        return WinogradTaps::Transformed;
    const int64_t transformed = transformedBytes(k, s, form);
    if (winogradChunkCount(k, s, form) <= kMaxTapChunks && (options.lowMemory || transformed > kMaxTransformedWeights))
        return WinogradTaps::InPanels;
    // Along one axis, transformed weights are hardly larger than taps.
    const bool atOnce = form.axes == WinogradForm::Axes::Both && tilesOf(s, form) >= kManyTiles && !isBlock(k, s);
    return atOnce && transformed <= kMaxWeightsAtOnce ? WinogradTaps::AtOnce : WinogradTaps::Transformed;
}

int winogradChunkCount(const Kernels& k, const ConvShape& s, WinogradForm form) {
    const int tiles = tilesOf(s, form), points = form.points();
    const int blocks = ceilDiv(s.ic, k.lanes) + ceilDiv(s.oc, k.lanes);
    const int64_t bytes = int64_t(points) * blocks * k.lanes * int64_t(sizeof(float));
    return ceilDiv(tiles, static_cast<int>(std::clamp<int64_t>(k.costs->cache.winogradTransforms / bytes, 27, 512)));
}

WinogradChunks cutWinogradTiles(const Kernels& k, const ConvShape& s, WinogradForm form, const ConvOptions& options) {
    WinogradChunks c;
    c.tilesW = ceilDiv(s.ow, form.unitW());
    c.tiles = ceilDiv(s.oh, form.unitH()) * c.tilesW;
    c.chunks = 1;
    const int all = c.tiles * s.batch;
    c.chunkTiles = all;
    if (winogradTaps(k, s, options, form) == WinogradTaps::InPanels) return c;
    c.chunks = winogradChunkCount(k, s, form);
    // Quantised weights of a single chunk are expanded in slices of channels. So that sums do not depend on the number
    // of threads, it does not decide whether there are slices.
    if (options.quantization.bits && c.chunks == 1) return c;
    if (options.threads > 1 && c.chunks < 4 * options.threads) {
        const int wanted = c.chunks * taskCount(c.chunks, all, options.threads);
        const int even = ceilDiv(c.chunks, options.threads) * options.threads;
        // With small weights there are more, smaller chunks, or one for each thread, which finds the transforms in its
        // own cache but reads all weights. With large weights there is one chunk, and the threads divide its tasks and
        // with them the transforms.
        if (all / wanted >= kMinChunkTiles)
            c.chunks = wanted;
        else if (all / even >= kMinChunkTiles && kForeignLine * all * (s.ic + s.oc) > double(s.ic) * s.oc)
            c.chunks = even;
    }
    c.chunkTiles = ceilDiv(all, c.chunks);
    c.byRows = options.byRows && s.batch == 1 && c.tiles > c.tilesW && c.tilesW <= 2 * c.chunkTiles;
    if (c.byRows) {
        // Chunks are whole rows of tiles: at each end of a chunk, rows of the input are computed twice.
        c.step = c.tilesW;
        c.chunkTiles = std::max(1, (c.chunkTiles + c.tilesW / 2) / c.tilesW) * c.tilesW;
        c.rowFloats = size_t(std::min(s.ih, c.chunkTiles / c.tilesW * form.stepH() + form.tapsH() - form.strideH())) *
                      s.iw * k.lanes;
    }
    c.chunks = ceilDiv(all, c.chunkTiles);
    return c;
}

const ConvImplementation kWinograd2Conv = implementation<WinogradForm{2, 3}>("winograd2");
const ConvImplementation kWinograd4Conv = implementation<WinogradForm{4, 3}>("winograd4");
const ConvImplementation kWinograd6Conv = implementation<WinogradForm{6, 3}>("winograd6");
const ConvImplementation kWinograd2Of2x2Conv = implementation<WinogradForm{2, 2}>("winograd2.2x2");
const ConvImplementation kWinograd4Of2x2Conv = implementation<WinogradForm{4, 2}>("winograd4.2x2");
const ConvImplementation kWinograd5x5Conv = implementation<WinogradForm{4, 5}>("winograd4.5x5");
const ConvImplementation kWinograd4Of1x3Conv = implementation<WinogradForm{4, 3, kRows}>("winograd4.1x3");
const ConvImplementation kWinograd6Of1x3Conv = implementation<WinogradForm{6, 3, kRows}>("winograd6.1x3");
const ConvImplementation kWinograd1x5Conv = implementation<WinogradForm{4, 5, kRows}>("winograd4.1x5");
const ConvImplementation kWinograd1x7Conv = implementation<WinogradForm{2, 7, kRows}>("winograd2.1x7");
const ConvImplementation kWinograd4Of3x1Conv = implementation<WinogradForm{4, 3, kColumns}>("winograd4.3x1");
const ConvImplementation kWinograd6Of3x1Conv = implementation<WinogradForm{6, 3, kColumns}>("winograd6.3x1");
const ConvImplementation kWinograd5x1Conv = implementation<WinogradForm{4, 5, kColumns}>("winograd4.5x1");
const ConvImplementation kWinograd7x1Conv = implementation<WinogradForm{2, 7, kColumns}>("winograd2.7x1");
const ConvImplementation kStridedWinogradConv = implementation<WinogradForm{2, 3, kBoth, 2}>("winograd2.stride2");
const ConvImplementation kStridedWinograd4x4Conv =
    implementation<WinogradForm{2, 4, kBoth, 2}>("winograd2.4x4.stride2");
const ConvImplementation kStridedWinograd5x5Conv =
    implementation<WinogradForm{2, 5, kBoth, 2}>("winograd2.5x5.stride2");
const ConvImplementation kStridedWinograd1x3Conv =
    implementation<WinogradForm{4, 3, kRows, 2}>("winograd4.1x3.stride2");
const ConvImplementation kStridedWinograd3x1Conv =
    implementation<WinogradForm{4, 3, kColumns, 2}>("winograd4.3x1.stride2");

}  // namespace mnnc
