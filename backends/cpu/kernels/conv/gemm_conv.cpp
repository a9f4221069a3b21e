// The loops that convolutions by matrix products share.
#include "backends/cpu/kernels/conv/gemm_conv.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>

#include "backends/cpu/kernels/conv_packing.h"
#include "backends/cpu/kernels/gemm/panels.h"

namespace mnnc {
namespace {

alignas(64) constexpr float kNoBias[4 * 16] = {};
// Either the weights are read again for each part of the input, or the input is read again for each panel. An element
// of the input takes this many times as long to read as a weight, because weights follow one another in memory.
// The factor was measured.
constexpr double kPanelReads = 1.5;
constexpr int64_t kMinPixelChunk = 36;  // pixels: fewer would leave tiles of products half empty

void product(const Kernels& k, const PanelArgs& t) {
    k.panels->panel(t);
}
void product(const Kernels& k, const Bf16PanelArgs& t) {
    k.bf16->panel(t);
}

int pixelsOfProduct(const OutputWalk& walk) {
    return walk.byPixel ? walk.units : walk.columns;
}

}  // namespace

GemmConvPlan::GemmConvPlan(const Kernels& k, const ConvShape& shape, const GemmWeightOptions& options,
                           GemmGeometry geometry)
    : k_(k),
      s_(shape),
      options_(options),
      icb_(ceilDiv(shape.ic, k.lanes)),
      ocb_(ceilDiv(shape.oc, k.lanes)),
      weights_(k, shape, options, std::move(geometry.phases),
               options.onePacking ? kUsualPixels : pixelsOfProduct(geometry.walks[0])),
      geometry_(std::move(geometry)),
      weightsOnce_(readsWeightsOnce()) {}

int64_t GemmConvPlan::scratchBytes(int threads) const {
    threads = std::max(1, threads);
    return static_cast<int64_t>(weights_.expandedBytes() * threads + sourceBytes(threads));
}

void GemmConvPlan::runImages(GemmImage image, ThreadPool& pool) const {
    image.memory = image.expanded + weights_.expandedBytes() * pool.threads();
    // Images alternate in direction, and with an even number of them the last one ends where the next run begins.
    image.backwards &= geometry_.images % 2 != 0;
    for (int n = 0; n < geometry_.images; ++n) {
        runImage(image, pool);
        image.src += geometry_.srcImage;
        image.dst += geometry_.dstImage;
        if (image.post.residual) image.post.residual += geometry_.dstImage;
        image.backwards = !image.backwards;
    }
}

int GemmConvPlan::tileUnits(size_t walk) const {
    return geometry_.walks[walk].byPixel ? k_.panels->maxRows[weights_.panels()[0].nb] : 1;
}

int GemmConvPlan::sliceBlocks(size_t index) const {
    const OutputWalk& walk = geometry_.walks[index];
    // The weights of a slice are contiguous only where they have no taps besides the one of this walk.
    const bool oneTap = geometry_.tapRuns.empty() && geometry_.tapOffsets[index].size() == 1;
    const bool wholeSums = options_.groups > 1 || options_.bf16 || options_.rowTaps > 0 || weights_.quantized() ||
                           !walk.byPixel || !oneTap;
    const int64_t pixelBytes = int64_t{icb_} * k_.lanes * int64_t{sizeof(float)};
    if (wholeSums || walk.units * pixelBytes <= k_.costs->cache.gemmInput) return icb_;
    const int64_t slices = ceilDiv(kUsualPixels * pixelBytes, k_.costs->cache.gemmInput);
    return ceilDiv(icb_, static_cast<int>(std::min<int64_t>(slices, icb_)));
}

int GemmConvPlan::tapSlices(size_t index) const {
    const OutputWalk& walk = geometry_.walks[index];
    const GemmPanel& panel = weights_.panels()[0];
    const int taps = static_cast<int>(geometry_.tapOffsets[index].size());
    const bool wholeSums = options_.bf16 || options_.rowTaps > 0 || weights_.quantized();
    const bool once = int64_t{walk.units} * walk.columns <= k_.panels->maxRows[panel.nb];
    if (wholeSums || once || taps < 2) return 1;
    const int64_t bytes = int64_t{taps} * panel.length * panel.nb * k_.lanes * int64_t{sizeof(float)};
    const auto slices = static_cast<int>(std::clamp<int64_t>(bytes / k_.costs->cache.gemmInput + 1, 1, taps));
    // Rows of taps are not cut, because their inputs lie side by side.
    const int rows = taps / s_.kw;
    return apartTaps() && slices <= rows ? ceilDiv(rows, rows / slices) : slices;
}

int64_t GemmConvPlan::cacheUnits(int) const {
    const int64_t element = options_.bf16 ? sizeof(uint16_t) : sizeof(float);
    const int slice = sliceBlocks(0);
    int64_t elements = slice < icb_ ? int64_t(slice) * k_.lanes : geometry_.unitElements;
    if (apartTaps()) elements /= tapSlices(0);
    const int64_t unitBytes = elements * element / options_.groups;
    const int64_t units = std::max<int64_t>(1, k_.costs->cache.gemmInput / std::max<int64_t>(1, unitBytes));
    return geometry_.walks[0].byPixel ? std::max(units, kMinPixelChunk) : units;
}

bool GemmConvPlan::readsWeightsOnce() const {
    const OutputWalk& walk = geometry_.walks[0];
    const GemmPanel& panel = weights_.panels()[0];
    if (walk.byPixel || options_.groups > 1 || options_.bf16 || weights_.quantized() || apartTaps()) return false;
    const auto taps = [&](size_t i) { return double(geometry_.tapOffsets[i].size()); };
    // The taps whose weights would be read again: for each part of the first walk but one, and for the other walks.
    double again = taps(0) * (ceilDiv(int64_t{walk.units}, GemmConvPlan::cacheUnits(1)) - 1.0);
    for (size_t i = 1; i < geometry_.walks.size(); ++i) {
        if (geometry_.walks[i].phase != walk.phase) return false;
        again += taps(i);
    }
    const double weights = again * panel.length * panel.nb * k_.lanes;  // of a panel
    const double input = double(walk.units) * static_cast<double>(geometry_.unitElements);
    return weights > kPanelReads * input * std::max(1.0, double(tapSlices(0)) / s_.strideH);
}

Split GemmConvPlan::splitOf(size_t index, int threads) const {
    const OutputWalk& walk = geometry_.walks[index];
    const GemmPanel& panel = weights_.panels()[0];
    const double pixels = double(walk.units) * walk.columns;
    const double weights = double(geometry_.tapOffsets[index].size()) * panel.length * panel.nb * k_.lanes;
    return splitGemm({walk.units, weightsOnce_ ? walk.units : cacheUnits(threads), panelCount(), pixels, weights,
                      k_.costs->task.f32, k_.costs->task.fetch, double(walk.columns) * (s_.ic + s_.oc)},
                     threads);
}

// Walks write different parts of the map, so that their tasks can be computed together: walk after walk, or where
// weights are read once, all walks of a panel before the next panel. A job has at most kTogether walks: a run may not
// allocate memory for a longer list.
template <typename T>
void GemmConvPlan::runSource(const GemmImage& image, const GemmSource<T>& src, ThreadPool& pool) const {
    constexpr size_t kTogether = 16;
    for (size_t first = 0; first < geometry_.walks.size(); first += kTogether) {
        const size_t count = std::min(kTogether, geometry_.walks.size() - first);
        std::array<Split, kTogether> splits;
        std::array<int, kTogether + 1> begins;  // of the tasks of each walk
        begins[0] = 0;
        for (size_t i = 0; i < count; ++i) {
            splits[i] = splitOf(first + i, pool.threads());
            begins[i + 1] = begins[i] + splits[i].chunks * splits[i].groups;
        }
        const auto end = splits.begin() + static_cast<ptrdiff_t>(count);
        if (weightsOnce_ && std::all_of(splits.begin(), end, [](const Split& s) { return s.chunks == 1; })) {
            const int groups = std::max_element(splits.begin(), end, [](const Split& a, const Split& b) {
                                   return a.groups < b.groups;
                               })->groups;
            parallelSlots(pool, groups, [&](int slot, int group) {
                const int last = chunkBegin(panelCount(), group + 1, groups);
                for (int p = chunkBegin(panelCount(), group, groups); p < last; ++p)
                    for (size_t i = first; i < first + count; ++i)
                        runPanels(image, src, i, {p, p + 1}, false, 0, geometry_.walks[i].units, slot);
            });
            continue;
        }
        parallelSlots(pool, begins[count], [&](int slot, int number) {
            size_t i = 0;
            while (number >= begins[i + 1]) ++i;
            const Split& split = splits[i];
            const int units = geometry_.walks[first + i].units, tile = tileUnits(first + i);
            // The tasks of several threads are too small for the order to matter.
            const bool back = units == 1 && image.backwards;
            const int chunk = (number - begins[i]) / split.groups, group = (number - begins[i]) % split.groups;
            const Panels panels{chunkBegin(panelCount(), group, split.groups),
                                chunkBegin(panelCount(), group + 1, split.groups)};
            runPanels(image, src, first + i, panels, back, chunkBeginTiled(units, chunk, split.chunks, tile),
                      chunkBeginTiled(units, chunk + 1, split.chunks, tile), slot);
        });
    }
}

// Limits the arguments to the part of a panel's sum over `blocks` blocks of channels from `first` on. The first part
// adds the residual, which may lie where the sum is stored; the last part does the rest of the epilogue.
void GemmConvPlan::takeSlice(PanelArgs& t, const GemmPanel& panel, int first, int blocks) const {
    const bool last = first + blocks >= icb_;
    t.a += first * t.blockStride;
    t.w += size_t(first) * k_.lanes * panel.nb * k_.lanes;
    t.fullBlocks = std::min(first + blocks, panel.fullBlocks) - first;
    t.tail = last ? panel.tail : 0;
    if (last) return;
    t.act = Act::None;
    t.lo = -std::numeric_limits<float>::infinity();
    t.hi = std::numeric_limits<float>::infinity();
}

// Limits the arguments to the part of a sum over the taps first .. end, like takeSlice().
void GemmConvPlan::takeTaps(PanelArgs& t, int first, int end) const {
    const ptrdiff_t run = (ptrdiff_t(t.fullBlocks) * k_.lanes + t.tail) * t.nb * k_.lanes;
    if (end < t.taps) {
        t.act = Act::None;
        t.lo = -std::numeric_limits<float>::infinity();
        t.hi = std::numeric_limits<float>::infinity();
    }
    if (t.tapRun && end < t.taps) t.next = t.w + t.tapRun[end] * run;
    t.taps = end - first;
    t.tapOffset += first;
    if (t.tapRun)
        t.tapRun += first;
    else
        t.w += first * run;
}

template <typename T>
void GemmConvPlan::runPanels(const GemmImage& image, const GemmSource<T>& src, size_t index, Panels panels,
                             bool backwards, int u0, int u1, int slot) const {
    const OutputWalk& walk = geometry_.walks[index];
    const int slice = sliceBlocks(index), parts = tapSlices(index), count = panels.end - panels.begin;
    // The panels share the input of a slice of taps where no other slice reads it.
    const int rounds = apartTaps() ? parts : 1;
    const int whole = rounds > 1 ? s_.kw : 1;  // taps that are not separated
    const bool single =
        (walk.byPixel ? 1 : walk.columns) * (u1 - u0) == 1 && slice >= icb_ && parts == 1 && geometry_.tapRuns.empty();
    // Rows of a matrix are far apart, while pixels of a channel block follow one another.
    const bool far =
        walk.dstBlock == k_.lanes &&
        int64_t{walk.units} * walk.columns * walk.dstPixel * int64_t{sizeof(float)} > k_.costs->cache.nearResult;
    for (int step = 0; step < count * ceilDiv(icb_, slice) * rounds; ++step) {
        const int at = step % count;
        int i = backwards ? panels.end - 1 - at : panels.begin + at;
        bool pair = false;
        if constexpr (std::is_same_v<T, float>) {
            pair = single && at + 1 < count && weights_.alike(backwards ? i - 1 : i);
            if (pair && backwards) --i;
        }
        const T* weights =
            weights_.panel<T>(image.packed, walk.phase, i, image.expanded + slot * weights_.expandedBytes());
        PanelArgsOf<T> t = panelArgs(src, index, i, weights, image.post);
        if constexpr (std::is_same_v<T, float>)
            if (slice < icb_) {
                const int next = at + 1 < count ? i + 1 : panels.begin;
                takeSlice(t, weights_.panels()[i], step / count * slice, slice);
                const int then = (step + 1) / count * slice;  // no weights follow the last slice
                if (then < icb_)
                    t.next = weights_.panel<T>(image.packed, walk.phase, next, nullptr) +
                             size_t(then) * k_.lanes * weights_.panels()[next].nb * k_.lanes;
            }
        t.pair = pair;
        t.fetchDst = far;
        t.lastLanes = lastLanes(pair ? i + 1 : i);
        t.dstPixelStride = walk.dstPixel;
        t.dstBlockStride = walk.dstBlock;
        t.m = walk.byPixel ? u1 - u0 : walk.columns;
        const T* const from = t.a;
        const int first = rounds > 1 ? step / count : 0;
        for (int part = first; part < (rounds > 1 ? first + 1 : parts); ++part) {
            // A part that is the only one needs no copy of the arguments: copying them right after they are filled in
            // would stall.
            PanelArgsOf<T> own;
            PanelArgsOf<T>& sum = parts > 1 ? own = t : t;
            if constexpr (std::is_same_v<T, float>)
                if (parts > 1)
                    takeTaps(sum, chunkBeginTiled(t.taps, part, parts, whole),
                             chunkBeginTiled(t.taps, part + 1, parts, whole));
            // A previous slice has stored its part of the sum here.
            const bool earlier = (slice < icb_ && step >= count) || part > 0;
            if (earlier) sum.bias = kNoBias;
            for (int u = u0; u < (walk.byPixel ? u0 + 1 : u1); ++u) {
                sum.a = from + (ptrdiff_t(u) * walk.step - src.first) * walk.position;
                const ptrdiff_t place =
                    weights_.panels()[i].block * walk.dstBlock + walk.dst + ptrdiff_t(u) * walk.dstUnit;
                sum.dst = image.dst + place;
                sum.residual = earlier ? sum.dst : image.post.residual ? image.post.residual + place : nullptr;
                product(k_, sum);
            }
        }
        if (pair) ++step;
    }
}

// Returns how many channels of the last block of a panel are stored.
int GemmConvPlan::lastLanes(int panel) const {
    const GemmPanel& p = weights_.panels()[panel];
    const int channelsLeft = s_.oc - (p.block + p.nb - 1) * k_.lanes;
    return geometry_.rowMajorOutput ? std::min(k_.lanes, channelsLeft) : k_.lanes;
}

template <typename T>
PanelArgsOf<T> GemmConvPlan::panelArgs(const GemmSource<T>& src, size_t walk, int panel, const T* weights,
                                       const PostOps& post) const {
    const GemmPanel& p = weights_.panels()[panel];
    const std::vector<ptrdiff_t>& offsets = geometry_.tapOffsets[walk];
    PanelArgsOf<T> t{};
    t.a = src.data + p.inBlock * src.plane;
    t.pixelStride = geometry_.walks[walk].pixel;
    t.tapOffset = offsets.data();
    t.taps = static_cast<int>(offsets.size());
    t.tapRun = geometry_.tapRuns.empty() ? nullptr : geometry_.tapRuns[walk].data();
    t.fullBlocks = p.fullBlocks;
    t.blockStride = src.plane;
    t.tail = p.tail;
    t.w = weights;
    if (weights_.quantized())
        t.next = weights;  // no panel follows an expanded one
    else if (t.tapRun && t.taps)
        t.next = weights + size_t(t.tapRun[t.taps - 1] + 1) * p.length * p.nb * k_.lanes;
    t.bias = post.bias + p.block * k_.lanes;
    t.lo = post.lo;
    t.hi = post.hi;
    t.act = post.act;
    t.nb = p.nb;
    t.lastLanes = lastLanes(panel);
    return t;
}

template void GemmConvPlan::runSource(const GemmImage&, const GemmSource<float>&, ThreadPool&) const;
template void GemmConvPlan::runSource(const GemmImage&, const GemmSource<uint16_t>&, ThreadPool&) const;
template void GemmConvPlan::runPanels(const GemmImage&, const GemmSource<float>&, size_t, Panels, bool, int, int,
                                      int) const;
template void GemmConvPlan::runPanels(const GemmImage&, const GemmSource<uint16_t>&, size_t, Panels, bool, int, int,
                                      int) const;
template PanelArgs GemmConvPlan::panelArgs(const GemmSource<float>&, size_t, int, const float*, const PostOps&) const;

}  // namespace mnnc
