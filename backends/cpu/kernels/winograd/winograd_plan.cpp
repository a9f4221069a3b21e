// Winograd convolutions (Lavin and Gray, arXiv 1509.09308): tiles of the input are transformed, multiplied point by
// point, and transformed back, as many tiles at a time as the second level cache holds.
#include "backends/cpu/kernels/winograd/winograd_plan.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/conv_packing.h"
#include "backends/cpu/kernels/gemm/panels.h"
#include "backends/cpu/kernels/winograd/winograd_weights.h"
#include "base/error.h"

namespace mnnc {
namespace {

// The points whose products take about as long as weights that come from memory.
constexpr int kPointsAhead = 8;

// Returns how wide panels are where each of them is a task: narrower than `best` where the threads then finish earlier,
// although the input is read more often.
int blocksOfPanelTasks(int best, int blocks, int threads) {
    const auto time = [&](int width) { return int64_t{ceilDiv(ceilDiv(blocks, width), threads)} * (2 * width + 1); };
    int chosen = best;
    for (int width = best - 1; width >= 1; --width)
        if (time(width) < time(chosen)) chosen = width;
    return chosen;
}

WinogradWeightOptions weightOptions(const Kernels& k, const ConvShape& s, WinogradForm form, const ConvOptions& options,
                                    const WinogradChunks& c) {
    WinogradWeightOptions weights;
    weights.form = form;
    weights.bf16 = winogradUsesBf16(k, s, options, form);
    weights.panelBlocks = bestPanelBlocks(k, options.onePacking ? kUsualPixels : std::min(c.chunkTiles, kUsualPixels),
                                          ceilDiv(s.oc, k.lanes));
    weights.quantization = options.quantization;
    weights.taps = winogradTaps(k, s, options, form) != WinogradTaps::Transformed;
    weights.perPanel = c.chunks == 1;
    weights.sliceBlocks = weights.panelBlocks;
    const bool expands = weights.taps || weights.quantization.bits != 0;
    if (weights.perPanel && expands && options.threads > 1)
        weights.panelBlocks = blocksOfPanelTasks(weights.panelBlocks, ceilDiv(s.oc, k.lanes), options.threads);
    return weights;
}

class WinogradPlan final : public ConvPlan, FloatWeightPacker, QuantizedWeightPacker, RowFedConv {
  public:
    WinogradPlan(const Kernels& k, const ConvShape& shape, WinogradForm form, const ConvOptions& options)
        : k_(k),
          s_(shape),
          form_(form),
          transforms_(k.winograd->of(form)),
          points_(form.points()),
          icb_(ceilDiv(shape.ic, k.lanes)),
          ocb_(ceilDiv(shape.oc, k.lanes)),
          threads_(options.threads),
          bf16_(winogradUsesBf16(k, shape, options, form)),
          oneBlock_(winogradMultipliesBlock(k, shape, options, form)),
          c_(cutWinogradTiles(k, shape, form, options)),
          phases_(options.phases ? *options.phases : OutputPhases{1, 1, 0, 0, shape.oh, shape.ow}),
          phaseBlocks_(ocb_ / phases_.count()),
          weights_(k, shape, weightOptions(k, shape, form, options, c_)),
          inPoint_(pointStride(icb_)),
          outPoint_(pointStride(ocb_)),
          slotFloats_(roundUpFloats((inPoint_ + outPoint_) * points_)),
          stripFloats_(bf16_ ? roundUpFloats(size_t(icb_) * c_.chunkTiles * k.lanes / 2) : 0) {}

    int64_t packedWeightBytes() const override { return static_cast<int64_t>(weights_.packedBytes()); }
    std::string weightVariant() const override { return weights_.variant(); }
    std::string algorithm() const override {
        std::string name = format("winograd%d", form_.unit);
        if (form_.weights() != 9) name += format(".%dx%d", form_.tapsH(), form_.tapsW());
        if (form_.stride != 1) name += format(".stride%d", form_.stride);
        if (bf16_) name += format(".%s", k_.bf16->type);
        return name + weights_.suffix();
    }

    int64_t scratchBytes(int threads) const override {
        const int slots = shared() ? 1 : std::clamp(threads, 1, c_.chunks);
        const int strips = weights_.perPanel() ? points_ : std::clamp(threads, 1, std::max(slots, points_));
        const size_t floats = (slotFloats_ + c_.rowFloats) * slots + stripFloats_ * strips;
        return static_cast<int64_t>(floats * sizeof(float) +
                                    weights_.expandedBytes() * (weights_.perPanel() ? std::max(1, threads) : 1));
    }

    const FloatWeightPacker* floatPacker() const override { return weights_.quantized() ? nullptr : this; }
    const QuantizedWeightPacker* quantizedPacker() const override { return weights_.quantized() ? this : nullptr; }
    // Where all threads work on each of a few chunks, they would compute the same rows.
    const RowFedConv* rowFed() const override { return c_.byRows && !shared() ? this : nullptr; }

    void run(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
             ThreadPool& pool) const override {
        run(Job{src, nullptr, packed, dst, post, nullptr}, scratch, pool);
    }

  private:
    struct Job {
        const float* src;
        const RowSource* rows;  // read instead of src
        const void* weights;    // transformed, or the packed ones when each panel is expanded separately
        float* dst;
        const PostOps& post;
        char* expanded;  // memory for transformed weights
    };

    // The memory of one thread.
    struct Slot {
        float *transforms, *strip, *rows;
    };

    void packFloats(const WeightReader& weights, void* packed, ThreadPool& pool) const override {
        weights_.pack(weights, packed, pool);
    }
    void packQuantized(QuantizedWeightReader& weights, void* packed, ThreadPool& pool) const override {
        weights_.packQuantized(weights, packed, pool);
    }
    void runRows(const RowSource& src, const void* packed, float* dst, const PostOps& post, void* scratch,
                 ThreadPool& pool) const override {
        run(Job{nullptr, &src, packed, dst, post, nullptr}, scratch, pool);
    }

    // With too few chunks to keep the threads evenly busy, they divide the work inside each chunk.
    bool shared() const { return c_.chunks < 2 || (c_.chunks < 2 * threads_ && c_.chunks % threads_ != 0); }

    // Strides that are multiples of 4 KiB would put all points of a tile into one set of the first level cache.
    size_t pointStride(int blocks) const { return ((size_t(blocks) * c_.chunkTiles * k_.lanes / 16 + 1) | 1) * 16; }

    void run(Job job, void* scratch, ThreadPool& pool) const {
        float* slots = static_cast<float*>(scratch);
        const int total = c_.chunks;
        const bool together = shared() || pool.threads() == 1;
        const int threads = together ? 1 : std::min(pool.threads(), total);
        float* rows = slots + threads * slotFloats_;
        float* strips = rows + threads * c_.rowFloats;
        if (weights_.expands()) {
            const int stripCount =
                weights_.perPanel() ? points_ : std::clamp(pool.threads(), 1, std::max(threads, points_));
            job.expanded = reinterpret_cast<char*>(strips + stripCount * stripFloats_);
            if (!weights_.perPanel()) {
                weights_.expandAll(job.weights, job.expanded, pool);
                job.weights = job.expanded;
            }
        }
        if (together) {
            for (int i = 0; i < total; ++i) runChunk(job, i, {slots, strips, rows}, pool);
            return;
        }
        // Chunks are independent: each thread takes one at a time through all three steps in its own cache.
        parallelSlots(pool, total, [&](int slot, int i) {
            InlinePool alone;
            runChunk(job, i, {slots + slot * slotFloats_, strips + slot * stripFloats_, rows + slot * c_.rowFloats},
                     alone);
        });
    }

    // The planes of a block of image n that tiles t0 .. t1 read, and the first row that they have.
    struct Planes {
        const float* src;
        int firstRow;
    };
    Planes planesOf(const Job& job, int n, int block, int t0, int t1, float* rows) const {
        if (!job.rows) return {job.src + (size_t(n) * icb_ + block) * s_.ih * s_.iw * k_.lanes, 0};
        const int first = std::clamp(t0 / c_.tilesW * form_.stepH() - s_.padTop, 0, s_.ih);
        const int end = std::clamp((t1 - 1) / c_.tilesW * form_.stepH() - s_.padTop + form_.sideH(), first, s_.ih);
        return {job.rows->rows(block, first, end, rows), first};
    }

    // Calls body(block, from, to) for each block and the m tiles of a chunk, cut into tasks.
    template <typename Body>
    static void eachBlock(ThreadPool& pool, int blocks, int m, Body&& body) {
        const int threads = pool.threads(), tasks = threads == 1 ? 1 : std::clamp(ceilDiv(4 * threads, blocks), 1, m);
        parallelFor(pool, blocks * tasks, [&](int i) {
            body(i / tasks, chunkBegin(m, i % tasks, tasks), chunkBegin(m, i % tasks + 1, tasks));
        });
    }

    // Calls body(image, its first and last tile, tiles before them) for the images of the tiles begin .. end of the
    // batch.
    template <typename Body>
    void eachImage(int begin, int end, Body&& body) const {
        for (int t = begin; t < end;) {
            const int n = t / c_.tiles, next = std::min(end, (n + 1) * c_.tiles);
            body(n, t - n * c_.tiles, next - n * c_.tiles, t - begin);
            t = next;
        }
    }

    void runChunk(const Job& job, int index, const Slot& slot, ThreadPool& pool) const {
        const int P = k_.lanes, steps = c_.tiles * s_.batch / c_.step;
        const int begin = chunkBegin(steps, index, c_.chunks) * c_.step,
                  m = chunkBegin(steps, index + 1, c_.chunks) * c_.step - begin;
        float* v = slot.transforms;
        float* y = v + inPoint_ * points_;
        eachBlock(pool, icb_, m, [&](int b, int from, int to) {
            float* const at = v + (size_t(b) * m + from) * P;
            eachImage(begin + from, begin + to, [&](int n, int t0, int t1, int before) {
                const Planes planes = planesOf(job, n, b, t0, t1, slot.rows);
                transforms_.in({planes.src, planes.firstRow, s_.ih, s_.iw, s_.padTop, s_.padLeft, form_.stepH(),
                                form_.stepW(), c_.tilesW, t0, t1, !form_.alongWidth(), at + size_t(before) * P,
                                static_cast<ptrdiff_t>(inPoint_)});
            });
        });
        products(job, v, y, m, slot.strip, pool);
        eachBlock(pool, ocb_, m, [&](int i, int from, int to) {
            // The phases of a block of channels share cache lines.
            const int b = i % phases_.count() * phaseBlocks_ + i / phases_.count();
            const float* const at = y + (size_t(b) * m + from) * P;
            eachImage(begin + from, begin + to, [&](int n, int t0, int t1, int before) {
                WinogradOut t = outputOf(job, n, b);
                t.src = at + size_t(before) * P;
                t.t0 = t0;
                t.t1 = t1;
                transforms_.out(t);
            });
        });
    }

    // Returns where a block of image n is stored.
    WinogradOut outputOf(const Job& job, int n, int block) const {
        const OutputPhases& o = phases_;
        const int P = k_.lanes, phase = block / phaseBlocks_, own = block % phaseBlocks_;
        const int y = phase / o.stepX - o.dropY, x = phase % o.stepX - o.dropX;
        const ptrdiff_t plane = (ptrdiff_t(n) * phaseBlocks_ + own) * o.h * o.w * P,
                        at = plane + (ptrdiff_t(y) * o.w + x) * P;
        WinogradOut t;
        t.pointStride = static_cast<ptrdiff_t>(outPoint_);
        t.firstRow = y < 0 ? 1 : 0;
        t.firstColumn = x < 0 ? 1 : 0;
        t.oh = ceilDiv(o.h - y, o.stepY);
        t.ow = ceilDiv(o.w - x, o.stepX);
        t.tilesW = c_.tilesW;
        t.columns = !form_.alongWidth();
        t.dst = job.dst + at;
        t.row = ptrdiff_t(o.stepY) * o.w * P;
        t.pixel = ptrdiff_t(o.stepX) * P;
        t.residual = job.post.residual ? job.post.residual + at : nullptr;
        t.bias = job.post.bias + own * P;
        t.lo = job.post.lo;
        t.hi = job.post.hi;
        t.act = job.post.act;
        return t;
    }

    // Computes one panel of one point: y = v x weights over these channels.
    template <typename T>
    PanelArgsOf<T> panelArgs(const OutPanel& p, ChannelRange channels, int point, int m, const T* v,
                             const WinogradWeights::Panel<T>& weights, float* y) const {
        static constexpr ptrdiff_t kNoOffset[1] = {0};
        alignas(64) static constexpr float kZero[4 * 16] = {};
        const int P = k_.lanes, count = channels.end - channels.begin;
        PanelArgsOf<T> t;
        t.pixelStride = P;
        t.tapOffset = kNoOffset;
        t.taps = 1;
        t.a = v + ptrdiff_t(channels.begin / P) * m * P;
        t.fullBlocks = count / P;
        t.blockStride = ptrdiff_t(m) * P;
        t.tail = count % P;
        t.w = weights.data + form_.weightOf(point) * weights.point;
        t.dst = y + point * outPoint_ + size_t(p.block) * m * P;
        t.dstPixelStride = P;
        t.dstBlockStride = ptrdiff_t(m) * P;
        t.residual = channels.begin ? t.dst : nullptr;  // further slices are added
        t.bias = kZero;
        t.lo = -std::numeric_limits<float>::infinity();
        t.hi = std::numeric_limits<float>::infinity();
        t.act = Act::None;
        t.nb = p.nb;
        t.m = m;
        t.lastLanes = P;
        return t;
    }

    void multiply(const PanelArgs& t) const { k_.panels->panel(t); }
    void multiply(const Bf16PanelArgs& t) const { k_.bf16->panel(t); }

    // Rounds a point's input to bf16, once for all panels.
    void fillStrip(const float* v, int m, uint16_t* strip) const {
        const int P = k_.lanes;
        for (int b = 0; b < icb_; ++b) {
            const size_t at = size_t(b) * m * P;
            k_.bf16->convertBlock(v + at, P, m, std::min(P, s_.ic - b * P), strip + at);
        }
    }

    void products(const Job& job, const float* v, float* y, int m, float* strips, ThreadPool& pool) const {
        const std::vector<OutPanel>& panels = weights_.panels();
        const int panelCount = static_cast<int>(panels.size());
        const ChannelRange all{0, s_.ic};
        const auto strip = [&](int i) { return reinterpret_cast<uint16_t*>(strips + i * stripFloats_); };
        if (weights_.perPanel()) {
            if (bf16_) parallelFor(pool, points_, [&](int point) { fillStrip(v + point * inPoint_, m, strip(point)); });
            for (int c = 0; c < s_.ic; c += weights_.slice()) {
                const ChannelRange slice{c, std::min(s_.ic, c + weights_.slice())};
                parallelSlots(pool, panelCount, [&](int slot, int i) {
                    char* memory = job.expanded + slot * weights_.expandedBytes();
                    if (bf16_)
                        eachPoint<uint16_t>(job, panels[i], slice, m, strip, y, memory, nullptr);
                    else
                        eachPoint<float>(
                            job, panels[i], slice, m, [&](int point) { return v + point * inPoint_; }, y, memory,
                            i + 1 < panelCount ? &panels[i + 1] : nullptr);
                });
            }
            return;
        }
        if (bf16_) {
            parallelSlots(pool, points_, [&](int slot, int point) {
                fillStrip(v + point * inPoint_, m, strip(slot));
                for (const OutPanel& p : panels)
                    multiply(panelArgs<uint16_t>(p, all, point, m, strip(slot),
                                                 weights_.storedPanel<uint16_t>(job.weights, p), y));
            });
            return;
        }
        if (oneBlock_) {
            const auto stored = weights_.storedPanel<float>(job.weights, panels[0]);
            const auto weights = [&](int point) {
                return stored.data + form_.weightOf(std::min(point, points_ - 1)) * stored.point;
            };
            parallelRanges(pool, points_, pool.threads(), [&](int64_t begin, int64_t end) {
                for (int i = static_cast<int>(begin); i < end; ++i)
                    k_.winograd->multiplyBlock(v + i * inPoint_, weights(i), weights(i + kPointsAhead),
                                               y + i * outPoint_, m);
            });
            return;
        }
        parallelFor(pool, points_ * panelCount, [&](int task) {
            const int point = task / panelCount;
            const OutPanel& p = panels[task % panelCount];
            multiply(panelArgs<float>(p, all, point, m, v + point * inPoint_,
                                      weights_.storedPanel<float>(job.weights, p), y));
        });
    }

    // Computes all points of a panel whose weights are expanded into `memory`; source(point) is their input.
    // `following`: the panel that is expanded next, or null.
    template <typename T, typename Source>
    void eachPoint(const Job& job, const OutPanel& panel, ChannelRange slice, int m, Source&& source, float* y,
                   char* memory, const OutPanel* following) const {
        const auto weights = weights_.expandPanel<T>(job.weights, panel, slice, memory);
        for (int point = 0; point < points_; ++point) {
            PanelArgsOf<T> t = panelArgs<T>(panel, slice, point, m, source(point), weights, y);
            // The weights are in the cache: the taps of the next panel are prefetched, or the input of the next point.
            if constexpr (std::is_same_v<T, float>)
                if (following) t.next = weights_.tapsPart(job.weights, *following, slice, point, points_);
            if (!t.next && point + 1 < points_) t.next = source(point + 1) + ptrdiff_t(slice.begin) * m;
            multiply(t);
        }
    }

    const Kernels& k_;
    const ConvShape s_;
    const WinogradForm form_;
    const WinogradTransforms& transforms_;
    const int points_, icb_, ocb_, threads_;
    const bool bf16_, oneBlock_;
    const WinogradChunks c_;
    const OutputPhases phases_;
    const int phaseBlocks_;  // blocks of channels of a phase
    const WinogradWeights weights_;
    const size_t inPoint_, outPoint_, slotFloats_, stripFloats_;
};

}  // namespace

std::unique_ptr<ConvPlan> makeWinogradPlan(const Kernels& k, const ConvShape& s, WinogradForm form,
                                           const ConvOptions& options) {
    return std::make_unique<WinogradPlan>(k, s, form, options);
}

}  // namespace mnnc
