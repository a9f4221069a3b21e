// Convolutions whose groups are smaller than a vector: they are computed over planes, a vector of pixels at a time.

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/conv_packing.h"
#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/kernels/pack.h"
#include "base/error.h"

namespace mnnc {
namespace {

constexpr int kMaxBundleChannels = 256;
constexpr int kSlack = 8 * 16;  // floats: kernels read and write whole vectors

// Strides that are multiples of 4 KiB would put all planes into one set of the first level cache.
size_t planeStride(size_t floats) {
    return ((floats + kSlack + 15) / 16 | 1) * 16;
}

// Returns the number of groups after which both an input and an output block end.
int bundleGroups(int lanes, int icg, int ocg, int groups) {
    const int in = lanes / std::gcd(lanes, icg), out = lanes / std::gcd(lanes, ocg);
    return std::min(groups, std::lcm(in, out));
}

class GroupedPlanesPlan final : public ConvPlan, FloatWeightPacker {
  public:
    GroupedPlanesPlan(const Kernels& k, const ConvShape& shape, int groups, int threads)
        : k_(k),
          s_(shape),
          groups_(groups),
          icg_(shape.ic / groups),
          ocg_(shape.oc / groups),
          icb_(ceilDiv(shape.ic, k.lanes)),
          ocb_(ceilDiv(shape.oc, k.lanes)),
          bundle_(bundleGroups(k.lanes, icg_, ocg_, groups)),
          bundles_(ceilDiv(groups, bundle_)) {
        // With a stride s the input is cut into s x s phases, so that every tap reads contiguous places.
        const int reachY = (s_.kh - 1) * s_.dilateH / s_.strideH, reachX = (s_.kw - 1) * s_.dilateW / s_.strideW;
        width_ = s_.ow + reachX;
        const auto strip = [&](int pieces) {
            strips_ = pieces;
            stripRows_ = ceilDiv(s_.oh, pieces);
            phaseFloats_ = size_t(stripRows_ + reachY) * width_;
            inStride_ = planeStride(phaseFloats_ * s_.strideH * s_.strideW);
            outStride_ = planeStride(size_t(stripRows_) * width_);
            slotFloats_ = inStride_ * bundle_ * icg_ + outStride_ * bundle_ * ocg_;
        };
        int pieces = taskCount(bundles_ * s_.batch, s_.oh, threads);
        const auto maxFloats = static_cast<size_t>(k.costs->cache.groupedPlanes) / sizeof(float);
        for (strip(pieces); slotFloats_ > maxFloats && pieces < s_.oh; strip(pieces))
            pieces = std::min(s_.oh, pieces * 2);
        for (int ky = 0; ky < s_.kh; ++ky)
            for (int kx = 0; kx < s_.kw; ++kx) {
                const int y = ky * s_.dilateH, x = kx * s_.dilateW;
                const int phase = y % s_.strideH * s_.strideW + x % s_.strideW;
                taps_.push_back(static_cast<ptrdiff_t>(phase * phaseFloats_) + ptrdiff_t(y / s_.strideH) * width_ +
                                x / s_.strideW);
            }
        for (int left = ocg_; left > 0;) {
            int outputs = k.grouped->maxOutputs;
            while (outputs > left) outputs /= 2;
            chunks_.push_back(outputs);
            left -= outputs;
        }
    }

    int64_t packedWeightBytes() const override {
        return int64_t{s_.oc} * icg_ * s_.kh * s_.kw * int64_t{sizeof(float)};
    }
    const FloatWeightPacker* floatPacker() const override { return this; }

    std::string weightVariant() const override { return format("planes.o%d.g%d", k_.grouped->maxOutputs, groups_); }
    std::string algorithm() const override { return "grouped"; }
    bool addsInPlace() const override { return false; }  // storeRows() stores, then adds

    int64_t scratchBytes(int threads) const override {
        const size_t floats = slotFloats_ * std::clamp(threads, 1, tasks());
        return static_cast<int64_t>(floats * sizeof(float));
    }

    void run(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
             ThreadPool& pool) const override {
        float* slots = static_cast<float*>(scratch);
        const Job job{src, static_cast<const float*>(packed), dst, post};
        parallelSlots(pool, tasks(), [&](int slot, int i) { runStrip(job, i, slots + slot * slotFloats_); });
    }

  private:
    struct Job {
        const float* src;
        const float* packed;
        float* dst;
        const PostOps& post;
    };

    // Order in memory: [group][chunk of outputs][channel][tap][output], the transposed rows of a chunk's outputs.
    void packFloats(const WeightReader& reader, void* packed, ThreadPool& pool) const override {
        const int area = s_.kh * s_.kw;
        const float* weights = reader(0, size_t(s_.oc) * icg_ * area);
        parallelFor(pool, groups_, [&](int g) {
            const size_t row = size_t(icg_) * area;
            const float* from = weights + size_t(g) * ocg_ * row;
            float* to = static_cast<float*>(packed) + size_t(g) * ocg_ * row;
            for (const int outputs : chunks_) {
                packChunk(from, row, outputs, to);
                from += outputs * row;
                to += outputs * row;
            }
        });
    }

    void packChunk(const float* from, size_t row, int outputs, float* to) const {
        const int P = k_.lanes;
        if (outputs >= P) {  // whole vectors
            for (int o = 0; o < outputs; o += P)
                k_.pack->rowsToPanel(from + o * row, row, P, row, to + o, static_cast<size_t>(outputs));
            return;
        }
        constexpr size_t kColumns = 64;
        alignas(64) float columns[kColumns * 16];
        for (size_t i = 0; i < row; i += kColumns) {
            const size_t count = std::min(kColumns, row - i);
            k_.pack->rowsToBlock(from + i, row, outputs, count, columns);
            for (size_t j = 0; j < count; ++j, to += outputs) std::copy(columns + j * P, columns + j * P + outputs, to);
        }
    }

    int tasks() const { return s_.batch * bundles_ * strips_; }

    void runStrip(const Job& job, int task, float* slot) const {
        const int strip = task % strips_, bundle = task / strips_ % bundles_, n = task / strips_ / bundles_;
        const int row0 = chunkBegin(s_.oh, strip, strips_), row1 = chunkBegin(s_.oh, strip + 1, strips_);
        const int group0 = bundle * bundle_, group1 = std::min(groups_, group0 + bundle_);
        float* out = slot + inStride_ * bundle_ * icg_;
        fillPlanes(job.src, slot, n, group0 * icg_, group1 * icg_, row0, row1);
        const int area = s_.kh * s_.kw;
        for (int g = group0; g < group1; ++g) {
            GroupedArgs t;
            t.planes = slot + inStride_ * (g - group0) * icg_;
            t.channelStride = static_cast<ptrdiff_t>(inStride_);
            t.tapOffset = taps_.data();
            t.taps = area;
            t.channels = icg_;
            t.w = job.packed + size_t(g) * ocg_ * icg_ * area;
            t.bias = job.post.bias + size_t(g) * ocg_;
            t.dst = out + outStride_ * (g - group0) * ocg_;
            t.dstStride = static_cast<ptrdiff_t>(outStride_);
            t.length = (row1 - row0 - 1) * width_ + s_.ow;
            for (const int outputs : chunks_) {
                t.outputs = outputs;
                k_.grouped->product(t);
                t.w += size_t(outputs) * icg_ * area;
                t.bias += outputs;
                t.dst += outputs * t.dstStride;
            }
        }
        storeRows(job, out, n, group0 * ocg_, group1 * ocg_, row0, row1);
    }

    // Fills the planes of channels [c0, c1) for output rows [row0, row1). c0 is the first channel of a block.
    void fillPlanes(const float* src, float* planes, int n, int c0, int c1, int row0, int row1) const {
        const int P = k_.lanes, rows = row1 - row0 + (s_.kh - 1) * s_.dilateH / s_.strideH;
        std::memset(planes, 0, inStride_ * static_cast<size_t>(c1 - c0) * sizeof(float));
        for (int c = c0; c < c1; c += P) {
            const int lanes = std::min(P, c1 - c);
            const float* map = src + (size_t(n) * icb_ + c / P) * s_.ih * s_.iw * P;
            float* first = planes + inStride_ * (c - c0);
            for (int phaseY = 0; phaseY < s_.strideH; ++phaseY)
                for (int i = 0; i < rows; ++i) {
                    const int iy = (row0 + i) * s_.strideH + phaseY - s_.padTop;
                    float* row = first + phaseFloats_ * phaseY * s_.strideW + size_t(i) * width_;
                    if (iy >= 0 && iy < s_.ih) fillRow(map + size_t(iy) * s_.iw * P, row, lanes);
                }
        }
    }

    // Copies one input row of `lanes` channels into its column phases, which are zero around it.
    void fillRow(const float* from, float* to, int lanes) const {
        const int P = k_.lanes, step = s_.strideW;
        for (int phase = 0; phase < step; ++phase, to += phaseFloats_) {
            // Column j reads input column j * step + phase - padLeft.
            const int first = phase - s_.padLeft;
            int j0 = std::min(ceilDiv(std::max(0, -first), step), width_);
            const int j1 = first >= s_.iw ? j0 : std::clamp((s_.iw - 1 - first) / step + 1, j0, width_);
            if (j0 == j1) continue;
            if (step == 1) {
                k_.pack->blockToRows(from + ptrdiff_t(j0 + first) * P, lanes, static_cast<size_t>(j1 - j0), to + j0,
                                     inStride_);
                continue;
            }
            // Neighbours of a phase are `step` pixels apart. They are gathered first, a few at a time.
            constexpr int kChunk = 32;
            alignas(64) float pixels[kChunk * 16];
            for (; j0 < j1; j0 += kChunk) {
                const int count = std::min(kChunk, j1 - j0);
                for (int j = 0; j < count; ++j)
                    std::memcpy(pixels + j * P, from + (ptrdiff_t(j0 + j) * step + first) * P,
                                size_t(P) * sizeof(float));
                k_.pack->blockToRows(pixels, lanes, static_cast<size_t>(count), to + j0, inStride_);
            }
        }
    }

    void storeRows(const Job& job, const float* out, int n, int c0, int c1, int row0, int row1) const {
        const int P = k_.lanes;
        const PostOps& post = job.post;
        const bool finish = post.act != Act::None || post.lo > -std::numeric_limits<float>::infinity() ||
                            post.hi < std::numeric_limits<float>::infinity();
        const size_t line = size_t(s_.ow) * P;
        for (int c = c0; c < c1; c += P) {
            const int lanes = std::min(P, c1 - c);
            for (int row = row0; row < row1; ++row) {
                const size_t at = ((size_t(n) * ocb_ + c / P) * s_.oh + row) * line;
                float* to = job.dst + at;
                k_.pack->rowsToBlock(out + outStride_ * (c - c0) + size_t(row - row0) * width_, outStride_, lanes,
                                     static_cast<size_t>(s_.ow), to);
                if (post.residual)
                    binaryKernels(k_.id).byCode[0](to, Elements::Each, post.residual + at, Elements::Each, to, line);
                if (finish) unaryKernels(k_.id).activate(to, line, post.act, post.lo, post.hi);
            }
        }
    }

    const Kernels& k_;
    const ConvShape s_;
    const int groups_, icg_, ocg_, icb_, ocb_, bundle_, bundles_;
    int width_ = 0, strips_ = 1, stripRows_ = 0;
    size_t phaseFloats_ = 0, inStride_ = 0, outStride_ = 0, slotFloats_ = 0;
    std::vector<ptrdiff_t> taps_;
    std::vector<int> chunks_;
};

bool acceptsGroupedPlanes(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    const int groups = options.groups;
    if (groups < 2 || options.transposed || options.srcNchw) return false;
    const int icg = s.ic / groups, ocg = s.oc / groups;
    if (icg % k.lanes == 0 && ocg % k.lanes == 0) return false;  // products of whole vectors are faster
    // Strides larger than the window leave phases of the input that no output reads.
    if (s.strideH > s.kh || s.strideW > s.kw || s.strideH > 2 || s.strideW > 2) return false;
    return bundleGroups(k.lanes, icg, ocg, groups) * std::max(icg, ocg) <= kMaxBundleChannels;
}

// Returns a lower bound: the multiply-adds at the full rate of the CPU, and the copies between planes and blocks.
double groupedPlanesCycles(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    const double vectors = double(s.batch) * ceilDiv(s.oh * s.ow, k.lanes) * s.oc;
    const double copies = double(s.batch) * (double(s.ic) * s.ih * s.iw + double(s.oc) * s.oh * s.ow) / k.lanes;
    const int channels = s.ic / options.groups;
    return vectors * channels * s.kh * s.kw / k.costs->cycles.tile.multiplyAdds + copies * k.costs->cycles.copy;
}

std::unique_ptr<ConvPlan> makeGroupedPlanes(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return std::make_unique<GroupedPlanesPlan>(k, s, options.groups, options.threads);
}

}  // namespace

const ConvImplementation kGroupedPlanesConv{"grouped_planes", acceptsGroupedPlanes, groupedPlanesCycles,
                                            makeGroupedPlanes};

}  // namespace mnnc
