// Dense and grouped convolutions of int8 as matrix products.
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/gemm/panels.h"
#include "backends/cpu/kernels/int8/int8_codes.h"
#include "backends/cpu/kernels/int8/int8_conv.h"
#include "backends/cpu/kernels/int8/int8_source.h"
#include "backends/cpu/kernels/int8/int8_tiles.h"
#include "backends/cpu/kernels/pack.h"
#include "base/checked.h"
#include "base/error.h"

namespace mnnc {
namespace {

constexpr int64_t kMinPixelChunk = 36;  // fewer would leave tiles of products half empty

struct Panel {
    int block, nb;
    int inBlock;  // first block of input channels read
    int channels;
};

Int8Layout layoutOf(const ConvShape& s, const Int8ConvOptions& options) {
    if (options.groups == 1 && s.ic <= 4 && (s.kh * s.kw > 1 || options.srcNchw)) return Int8Layout::Narrow;
    if (options.srcNchw) fail(Status::NotSupported, "no int8 convolution reads this shape row-major");
    const bool byPixel = s.kh * s.kw == 1 && s.padTop == 0 && s.padLeft == 0 && (s.oh - 1) * s.strideH < s.ih &&
                         (s.ow - 1) * s.strideW < s.iw;
    return byPixel ? Int8Layout::Pixels : Int8Layout::Rows;
}

class DensePlan final : public Int8SumPlan {
  public:
    DensePlan(const Kernels& k, const ConvShape& shape, const Int8ConvOptions& options)
        : costs_(*k.costs),
          k_(int8DenseKernels(k, shape, options)),
          pack_(*k.pack),
          s_(shape),
          groups_(options.groups),
          minima_(options.minima),
          ocb_(ceilDiv(shape.oc, k_.lanes)),
          source_(k_, shape, layoutOf(shape, options), options.srcNchw),
          narrow_(source_.layout() == Int8Layout::Narrow) {
        dstPixel_ = source_.batchRow() ? ptrdiff_t(ocb_) * k_.lanes : k_.lanes;
        dstBlock_ = source_.batchRow() ? k_.lanes : ptrdiff_t(source_.pixels()) * k_.lanes;
        makePanels();
    }

    std::string algorithm() const override {
        const char* kind = narrow_ ? "first" : groups_ > 1 ? "grouped" : source_.byPixel() ? "gemm1x1" : "direct";
        return format("int8 %s %s", kind, k_.name);
    }
    int64_t packedWeightBytes() const override { return weightBytes_; }
    std::string weightVariant() const override {
        return format("int8%s.%s%d%s.p%d.n%d.g%d", narrow_ ? format("narrow%d", source_.narrowChannels()).c_str() : "",
                      k_.zero ? "u" : "s", k_.zero ? k_.unit : k_.stepsTogether, k_.pairsApart ? "a" : "", k_.lanes,
                      panelBlocks_, groups_);
    }
    int64_t scratchBytes(int) const override {
        return sourceBytes() + (minima_ ? roundUp(int64_t{source_.pixels()} * 4, 64) : 0);
    }

    void packQuantized(const QuantizedWeightsView& weights, void* packed, ThreadPool& pool) const override {
        parallelFor(pool, static_cast<int>(panels_.size()), [&](int i) {
            packPanel(weights.codes.data(), static_cast<char*>(packed) + offsets_[static_cast<size_t>(i)],
                      panels_[static_cast<size_t>(i)]);
        });
    }

    void run(const int8_t* src, const void* packed, int8_t* dst, float* floats, const Int8Post& post, void* scratch,
             ThreadPool& pool) const override {
        runAll(src, packed, {dst, floats, nullptr}, post, scratch, pool);
    }

    void runSums(const int8_t* src, const void* packed, int32_t* sums, int padding, void* scratch,
                 ThreadPool& pool) const override {
        Int8Post post;
        post.padding = padding;
        runAll(src, packed, {nullptr, nullptr, sums}, post, scratch, pool);
    }

  private:
    struct Results {  // where one image's results go
        int8_t* codes;
        float* floats;
        int32_t* sums;
    };

    void runAll(const int8_t* src, const void* packed, const Results& to, const Int8Post& post, void* scratch,
                ThreadPool& pool) const {
        auto* source = static_cast<char*>(scratch);
        auto* pixelSums = reinterpret_cast<float*>(source + sourceBytes());
        const int64_t dstImage = int64_t{ocb_} * k_.lanes * s_.oh * s_.ow;
        for (int n = 0; n < source_.images(); ++n) {
            Image image{src + n * source_.imageElements(),
                        source,
                        static_cast<const char*>(packed),
                        pixelSums,
                        {to.codes ? to.codes + n * dstImage : nullptr, to.floats ? to.floats + n * dstImage : nullptr,
                         to.sums ? to.sums + n * dstImage : nullptr},
                        &post};
            runImage(image, pool);
        }
    }

    // Whether products read the pixels of the input directly: they take bytes unchanged.
    bool readsInput() const { return source_.isInput() && k_.zero == 0; }
    int64_t sourceBytes() const { return readsInput() ? 0 : source_.bytes(); }

    struct Image {
        const int8_t* src;
        char* source;  // room for src in the form that products need
        const char* packed;
        float* pixelSums;
        Results to;
        const Int8Post* post;
    };

    const char* sourceOf(const Image& image) const {
        return readsInput() ? reinterpret_cast<const char*>(image.src) : image.source;
    }

    void makePanels() {
        const int P = k_.lanes, icg = s_.ic / groups_, ocg = s_.oc / groups_;
        const bool whole = groups_ == 1 || (icg % P == 0 && ocg % P == 0);
        if (whole) {
            const int blocks = ceilDiv(ocg, P);
            const CycleCosts& cycles = costs_.cycles;
            const double weight = source_.byPixel() ? cycles.tile.weight : cycles.int8RowWeight;
            const int best = bestPanelBlocks(int8Tiles(cycles, k_, weight), k_,
                                             source_.byPixel() ? source_.pixels() : s_.ow, blocks);
            panelBlocks_ = std::min(blocks, best);
        }
        eachGroupPanel(s_, groups_, P, whole, panelBlocks_, [&](const OutPanel& o, int begin, int end) {
            const int inBlock = begin / P;
            panels_.push_back({o.block, o.nb, inBlock, end - inBlock * P});
        });
        for (const Panel& p : panels_) {
            offsets_.push_back(weightBytes_);
            const int64_t steps = checkedMul(taps(), packedSteps(p), "packed weights"), width = int64_t{p.nb} * P * 4;
            weightBytes_ =
                checkedAdd(weightBytes_, checkedMul(steps + stepsBehind(p), width, "packed weights"), "packed weights");
        }
    }

    int taps() const { return static_cast<int>(source_.taps().size()); }
    int perStep() const { return 4 / k_.unit; }  // channels
    int fullSteps() const { return k_.lanes / perStep(); }
    int tailSteps(const Panel& p) const { return ceilDiv(p.channels % k_.lanes, perStep()); }
    // Returns the steps of one tap.
    int stepsOf(const Panel& p) const {
        return narrow_ ? source_.rowSteps() : p.channels / k_.lanes * fullSteps() + tailSteps(p);
    }

    // Returns the packed steps: whole groups of those that lie together.
    int packedSteps(const Panel& p) const { return static_cast<int>(roundUp(stepsOf(p), k_.stepsTogether)); }

    // Returns the steps whose room the sums of the weights and the flags of the pairs of steps take.
    int64_t stepsBehind(const Panel& p) const {
        return (k_.zero == 0 ? 1 : 0) + (k_.clearUnfit ? ceilDiv(flags(p), int64_t{p.nb} * k_.lanes * 4) : 0);
    }
    int64_t flags(const Panel& p) const { return int64_t{taps()} * (packedSteps(p) / 2); }

    // Packs one tap at a time: it puts the codes of each output channel in the order of the steps, then transposes
    // these rows in units of the steps that lie together.
    void packPanel(const int8_t* weights, char* out, const Panel& p) const {
        const int P = k_.lanes, ocg = s_.oc / groups_, steps = packedSteps(p), width = p.nb * P;
        std::vector<float> rows(size_t(P) * steps);
        std::vector<int32_t> sums(static_cast<size_t>(width));
        std::vector<char> fit(k_.clearUnfit ? static_cast<size_t>(flags(p)) : 0, 1);
        for (int tap = 0; tap < taps(); ++tap, out += size_t(steps) * width * 4)
            for (int b = 0; b < p.nb; ++b) {
                const int first = (p.block + b) * P, real = std::min(P, s_.oc - first);
                // The weights for channels of other groups are zero, and these channels differ from row to row.
                if (groups_ > 1) std::fill(rows.begin(), rows.end(), 0.0f);
                for (int l = 0; l < real; ++l) {
                    float* row = rows.data() + size_t(l) * steps;
                    const int skipped = (first + l) / ocg * (s_.ic / groups_) - p.inBlock * P;
                    if (k_.unit == 1)
                        tapCodes(weights, first + l, tap, reinterpret_cast<int8_t*>(row) + skipped);
                    else
                        tapCodes(weights, first + l, tap, reinterpret_cast<int16_t*>(row) + skipped);
                }
                if (k_.zero == 0) addRowSums(rows.data(), steps, real, sums.data() + b * P);
                if (k_.clearUnfit)
                    k_.clearUnfit(reinterpret_cast<const int8_t*>(rows.data()), steps, real,
                                  fit.data() + int64_t{tap} * (steps / 2));
                if (k_.stepsTogether == 2)
                    pairsToPanel(rows.data(), steps, real, out + b * P * 8, P, width);
                else
                    pack_.rowsToPanel(rows.data(), steps, real, steps, reinterpret_cast<float*>(out) + b * P, width);
            }
        if (k_.pairsApart) {
            const int64_t all = int64_t{taps()} * steps * width * 4;
            takePairsApart(out - all, all / (P * 4), P);
        }
        if (k_.zero == 0) std::memcpy(out, sums.data(), sums.size() * sizeof(int32_t));
        if (k_.clearUnfit) {
            char* flags = std::copy(fit.begin(), fit.end(), out + sums.size() * sizeof(int32_t));
            const auto used = static_cast<size_t>(flags - out) % (size_t(width) * 4);
            if (used > 0) std::memset(flags, 0, size_t(width) * 4 - used);
        }
    }

    // Copies the codes of one output channel at a tap.
    template <typename T>
    void tapCodes(const int8_t* weights, int oc, int tap, T* to) const {
        const int icg = s_.ic / groups_, area = s_.kh * s_.kw, rowTaps = source_.rowTaps();
        const int8_t* from = weights + int64_t{oc} * icg * area + tap * rowTaps;
        if (!narrow_) return gatherCodes(from, area, icg, to);
        for (int kx = 0; kx < rowTaps; ++kx) gatherCodes(from + kx, area, icg, to + kx * source_.narrowChannels());
    }

    void runImage(const Image& image, ThreadPool& pool) const {
        const int panels = static_cast<int>(panels_.size()), units = source_.units();
        const int64_t unitBytes = std::max<int64_t>(1, source_.unitBytes() / groups_);
        const int64_t cacheUnits = std::max<int64_t>(source_.byPixel() ? kMinPixelChunk : 1,
                                                     static_cast<int64_t>(costs_.cache.int8Input / unitBytes));
        const Panel& first = panels_[0];
        const double weights = double(taps()) * stepsOf(first) * perStep() * first.nb * k_.lanes;
        const Split split = splitGemm({units, cacheUnits, panels, double(source_.pixels()), weights, costs_.task.u8s8,
                                       costs_.task.fetch, double(source_.pixels()) / units * (s_.ic + s_.oc)},
                                      pool.threads());
        const int chunks = split.chunks, groups = split.groups;
        // A chunk that belongs to one task is prepared by that task, while it is in the cache anyway.
        const bool prepared = !source_.byPixel() || groups > 1 || image.post->min;
        if (prepared && !readsInput()) source_.fill(image.src, image.source, image.post->padding, pool);
        if (image.post->min) source_.sumWindows(sourceOf(image), image.post->ratio, image.pixelSums, pool);
        parallelFor(pool, chunks * groups, [&](int task) {
            const int chunk = task / groups, group = task % groups;
            const int u0 = chunkBegin(units, chunk, chunks), u1 = chunkBegin(units, chunk + 1, chunks);
            if (!prepared && !readsInput()) source_.fillPixels(image.src, image.source, u0, u1);
            for (int i = chunkBegin(panels, group, groups); i < chunkBegin(panels, group + 1, groups); ++i)
                runPanel(image, i, u0, u1);
        });
    }

    void runPanel(const Image& image, int index, int u0, int u1) const {
        const int P = k_.lanes;
        const Panel& p = panels_[static_cast<size_t>(index)];
        const Int8Post& post = *image.post;
        Int8PanelArgs t;
        t.pixelStride = source_.pixel();
        t.tapOffset = source_.taps().data();
        t.taps = taps();
        const bool whole = narrow_ || source_.together();  // all steps of a tap are contiguous
        t.fullBlocks = whole ? 1 : p.channels / P;
        t.fullSteps = whole ? stepsOf(p) : fullSteps();
        t.blockStride = source_.block();
        t.tailSteps = whole ? 0 : tailSteps(p);
        t.w = image.packed + offsets_[static_cast<size_t>(index)];
        t.dstPixelStride = dstPixel_;
        t.dstBlockStride = dstBlock_;
        t.scale = post.scale ? post.scale + p.block * P : nullptr;
        t.offset = post.offset ? post.offset + p.block * P : nullptr;
        t.min = post.min ? post.min + p.block * P : nullptr;
        t.ratio = post.ratio;
        t.lo = post.lo;
        t.hi = post.hi;
        t.bounded = post.bounded;
        t.nb = p.nb;
        t.firstTile = 0;
        const char* from = sourceOf(image) + (narrow_ ? 0 : p.inBlock * source_.block());
        const auto go = [&](const char* a, int pixel, int m) {
            t.a = a;
            t.m = m;
            const ptrdiff_t to = p.block * dstBlock_ + pixel * dstPixel_;
            t.dst = image.to.codes ? image.to.codes + to : nullptr;
            t.floats = image.to.floats ? image.to.floats + to : nullptr;
            t.sums = image.to.sums ? image.to.sums + to : nullptr;
            t.pixelSums = minima_ ? image.pixelSums + pixel : nullptr;
            k_.panel(t);
        };
        if (source_.byPixel()) return go(from + u0 * source_.pixel(), u0, u1 - u0);
        for (int y = u0; y < u1; ++y, t.firstTile += ceilDiv(s_.ow, k_.maxRows[p.nb]))
            go(from + y * source_.row(), y * s_.ow, s_.ow);
    }

    const CpuCosts& costs_;
    const Int8Kernels& k_;
    const PackKernels& pack_;
    const ConvShape s_;
    const int groups_;
    const bool minima_;
    const int ocb_;
    const Int8Source source_;
    const bool narrow_;
    int panelBlocks_ = 1;
    ptrdiff_t dstPixel_ = 0, dstBlock_ = 0;
    int64_t weightBytes_ = 0;
    std::vector<Panel> panels_;
    std::vector<int64_t> offsets_;
};

}  // namespace

std::unique_ptr<Int8SumPlan> makeInt8DensePlan(const Kernels& k, const ConvShape& shape,
                                               const Int8ConvOptions& options) {
    return std::make_unique<DensePlan>(k, shape, options);
}

}  // namespace mnnc
