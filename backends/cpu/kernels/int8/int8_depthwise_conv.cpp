// Depthwise convolutions of int8.
#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/int8/int8_codes.h"
#include "backends/cpu/kernels/int8/int8_conv.h"
#include "backends/cpu/kernels/int8/int8_kernels.h"
#include "backends/cpu/kernels/pack.h"
#include "backends/cpu/kernels/plane_cut.h"
#include "base/error.h"

namespace mnnc {
namespace {

class DepthwisePlan final : public Int8ConvPlan {
  public:
    DepthwisePlan(const Kernels& k, const ConvShape& shape)
        : k_(*k.int8),
          pack_(*k.pack),
          s_(shape),
          blocks_(ceilDiv(shape.oc, k.lanes)),
          perGroup_(4 / k.int8->unit),
          groups_(ceilDiv(shape.kh, perGroup_)) {}

    int64_t packedWeightBytes() const override { return blocks_ * blockBytes(); }

    std::string weightVariant() const override { return format("int8depthwise.u%d.p%d", k_.unit, k_.lanes); }

    // Order in memory: [block][kx][group of rows][lane][rows of the group]
    void packQuantized(const QuantizedWeightsView& weights, void* packed, ThreadPool& pool) const override {
        parallelFor(pool, blocks_, [&](int b) {
            const int P = k_.lanes, first = b * P, real = std::min(P, s_.oc - first), words = s_.kw * groups_;
            std::vector<float> rows(size_t(P) * words);
            for (int l = 0; l < real; ++l) {
                const int8_t* from = weights.codes.data() + int64_t{first + l} * s_.kh * s_.kw;
                float* row = rows.data() + size_t(l) * words;
                for (int kx = 0; kx < s_.kw; ++kx) {
                    if (k_.unit == 1)
                        gatherCodes(from + kx, s_.kw, s_.kh, reinterpret_cast<int8_t*>(row + kx * groups_));
                    else
                        gatherCodes(from + kx, s_.kw, s_.kh, reinterpret_cast<int16_t*>(row + kx * groups_));
                }
            }
            char* out = static_cast<char*>(packed) + b * blockBytes();
            pack_.rowsToPanel(rows.data(), words, real, words, reinterpret_cast<float*>(out), P);
        });
    }

    int64_t scratchBytes(int) const override { return 0; }
    std::string algorithm() const override { return format("int8 depthwise %s", k_.name); }

    void run(const int8_t* src, const void* packed, int8_t* dst, float*, const Int8Post& post, void*,
             ThreadPool& pool) const override {
        const int P = k_.lanes;
        const bool byPixels = sharedByPixels(int64_t{s_.oh} * s_.ow, s_.oc);
        const int64_t in = int64_t{s_.ih} * s_.iw * P, out = int64_t{s_.oh} * s_.ow * P;
        forPlaneRows(pool, int64_t{s_.batch} * blocks_, s_.oh, byPixels,
                     [&](int64_t plane, int64_t begin, int64_t end) {
                         const int64_t block = plane % blocks_;
                         Int8DepthwiseArgs t;
                         t.src = src + plane * in;
                         t.dst = dst + plane * out;
                         t.w = static_cast<const char*>(packed) + block * blockBytes();
                         t.bias = post.bias + block * P;
                         t.scale = post.scale + block * P;
                         t.shape = &s_;
                         t.padding = post.padding;
                         t.lo = post.lo;
                         t.hi = post.hi;
                         t.bounded = post.bounded;
                         t.rowBegin = static_cast<int>(begin);
                         t.rowEnd = static_cast<int>(end);
                         k_.depthwise(t);
                     });
    }

  private:
    int64_t blockBytes() const { return int64_t{s_.kw} * groups_ * k_.lanes * 4; }

    const Int8Kernels& k_;
    const PackKernels& pack_;
    const ConvShape s_;
    const int blocks_, perGroup_, groups_;
};

}  // namespace

std::unique_ptr<Int8ConvPlan> makeInt8DepthwisePlan(const Kernels& k, const ConvShape& shape) {
    return std::make_unique<DepthwisePlan>(k, shape);
}

}  // namespace mnnc
