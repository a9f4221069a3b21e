// The loops that convolutions by matrix products share.
#include "backends/cpu/kernels/gemm_conv.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/kernels/conv_packing.h"
#include "backends/cpu/kernels/panels.h"

namespace mnnc {
namespace {

constexpr long kMinPixelChunk = 36;  // pixels: fewer would leave tiles of products half empty

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
      geometry_(std::move(geometry)) {}

int64_t GemmConvPlan::scratchBytes(int threads) const {
    threads = std::max(1, threads);
    return static_cast<int64_t>(weights_.expandedBytes() * threads + sourceBytes(threads));
}

void GemmConvPlan::run(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
                       ThreadPool& pool) const {
    char* expanded = static_cast<char*>(scratch);
    char* memory = expanded + weights_.expandedBytes() * pool.threads();
    for (int n = 0; n < geometry_.images; ++n) {
        GemmImage image{
            src + n * geometry_.srcImage, dst + n * geometry_.dstImage, packed, post, expanded, memory};
        if (post.residual) image.post.residual += n * geometry_.dstImage;
        runImage(image, pool);
    }
}

int GemmConvPlan::tileUnits(size_t walk) const {
    return geometry_.walks[walk].byPixel ? k_.panels->maxRows[weights_.panels()[0].nb] : 1;
}

long GemmConvPlan::cacheUnits(int) const {
    const long element = options_.bf16 ? sizeof(uint16_t) : sizeof(float);
    const long unitBytes = geometry_.unitElements * element / options_.groups;
    const long units = std::max<long>(1, k_.costs->cache.gemmInput / std::max<long>(1, unitBytes));
    return geometry_.walks[0].byPixel ? std::max(units, kMinPixelChunk) : units;
}

Split GemmConvPlan::splitOf(size_t index, int threads) const {
    const OutputWalk& walk = geometry_.walks[index];
    const GemmPanel& panel = weights_.panels()[0];
    const double pixels = double(walk.units) * walk.columns;
    const double weights = double(geometry_.tapOffsets[index].size()) * panel.length * panel.nb * k_.lanes;
    return splitGemm({walk.units, cacheUnits(threads), panelCount(), pixels, weights, k_.costs->task.f32,
                      k_.costs->task.fetch},
                     threads);
}

template <typename T>
void GemmConvPlan::runSource(const GemmImage& image, const GemmSource<T>& src, ThreadPool& pool) const {
    for (size_t f = 0; f < geometry_.walks.size(); ++f) {
        const int units = geometry_.walks[f].units, tile = tileUnits(f);
        const Split split = splitOf(f, pool.threads());
        parallelSlots(pool, split.chunks * split.groups, [&](int slot, int task) {
            const int chunk = task / split.groups, group = task % split.groups;
            const Panels panels{chunkBegin(panelCount(), group, split.groups),
                                chunkBegin(panelCount(), group + 1, split.groups)};
            runPanels(image, src, f, panels, chunkBeginTiled(units, chunk, split.chunks, tile),
                      chunkBeginTiled(units, chunk + 1, split.chunks, tile), slot);
        });
    }
}

template <typename T>
void GemmConvPlan::runPanels(const GemmImage& image, const GemmSource<T>& src, size_t index, Panels panels,
                             int u0, int u1, int slot) const {
    const OutputWalk& walk = geometry_.walks[index];
    for (int i = panels.begin; i < panels.end; ++i) {
        const T* weights =
            weights_.panel<T>(image.packed, walk.phase, i, image.expanded + slot * weights_.expandedBytes());
        PanelArgsOf<T> t = panelArgs(src, index, i, weights, image.post);
        const T* const from = t.a;
        t.dstPixelStride = walk.dstPixel;
        t.dstBlockStride = walk.dstBlock;
        t.m = walk.byPixel ? u1 - u0 : walk.columns;
        for (int u = u0; u < (walk.byPixel ? u0 + 1 : u1); ++u) {
            t.a = from + (ptrdiff_t(u) * walk.step - src.first) * walk.position;
            const ptrdiff_t at =
                weights_.panels()[i].block * walk.dstBlock + walk.dst + ptrdiff_t(u) * walk.dstUnit;
            t.dst = image.dst + at;
            t.residual = image.post.residual ? image.post.residual + at : nullptr;
            product(k_, t);
        }
    }
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
    if (weights_.quantized()) t.next = weights;  // no panel follows an expanded one
    t.bias = post.bias + p.block * k_.lanes;
    t.lo = post.lo;
    t.hi = post.hi;
    t.act = post.act;
    t.nb = p.nb;
    t.lastLanes = k_.lanes;
    return t;
}

template void GemmConvPlan::runSource(const GemmImage&, const GemmSource<float>&, ThreadPool&) const;
template void GemmConvPlan::runSource(const GemmImage&, const GemmSource<uint16_t>&, ThreadPool&) const;
template void GemmConvPlan::runPanels(const GemmImage&, const GemmSource<float>&, size_t, Panels, int, int,
                                      int) const;
template void GemmConvPlan::runPanels(const GemmImage&, const GemmSource<uint16_t>&, size_t, Panels, int, int,
                                      int) const;
template PanelArgs GemmConvPlan::panelArgs(const GemmSource<float>&, size_t, int, const float*,
                                           const PostOps&) const;

}  // namespace mnnc
