// Depthwise convolutions, forward and transposed.
#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/conv_packing.h"
#include "backends/cpu/kernels/pack.h"
#include "backends/cpu/kernels/plane_cut.h"
#include "base/error.h"

namespace mnnc {
namespace {

class DepthwisePlan final : public ConvPlan, FloatWeightPacker {
  public:
    DepthwisePlan(const Kernels& k, const ConvShape& shape, bool transposed)
        : k_(k), s_(shape), transposed_(transposed), blocks_(ceilDiv(shape.oc, k.lanes)) {}

    int64_t packedWeightBytes() const override {
        return int64_t{blocks_} * k_.lanes * s_.kh * s_.kw * int64_t{sizeof(float)};
    }

    std::string weightVariant() const override { return format("depthwise.p%d", k_.lanes); }
    int64_t scratchBytes(int) const override { return 0; }
    const FloatWeightPacker* floatPacker() const override { return this; }
    std::string algorithm() const override { return transposed_ ? "depthwise_deconv" : "depthwise"; }

    void run(const float* src, const void* packed, float* dst, const PostOps& post, void*,
             ThreadPool& pool) const override {
        const int P = k_.lanes;
        const bool byPixels = sharedByPixels(int64_t{s_.oh} * s_.ow, s_.oc);
        const size_t in = size_t(s_.ih) * s_.iw * P, out = size_t(s_.oh) * s_.ow * P;
        forPlaneRows(pool, int64_t{s_.batch} * blocks_, s_.oh, byPixels,
                     [&](int64_t plane, int64_t begin, int64_t end) {
                         DepthwiseArgs t = depthwiseArgs(s_, P, packed, post, static_cast<int>(plane % blocks_));
                         t.src = src + plane * in;
                         t.dst = dst + plane * out;
                         t.residual = post.residual ? post.residual + plane * out : nullptr;
                         t.rowBegin = static_cast<int>(begin);
                         t.rowEnd = static_cast<int>(end);
                         (transposed_ ? k_.depthwise->transposed : k_.depthwise->forward)(t);
                     });
    }

  private:
    void packFloats(const WeightReader& reader, void* packed, ThreadPool& pool) const override {
        const int P = k_.lanes, area = s_.kh * s_.kw;
        const float* weights = reader(0, size_t(s_.oc) * area);
        parallelFor(pool, blocks_, [&](int b) {
            k_.pack->rowsToBlock(weights + size_t(b) * P * area, area, std::min(P, s_.oc - b * P), area,
                                 static_cast<float*>(packed) + size_t(b) * P * area);
        });
    }

    const Kernels& k_;
    const ConvShape s_;
    const bool transposed_;
    const int blocks_;
};

bool accepts(const Kernels&, const ConvShape& s, const ConvOptions& options) {
    return options.groups > 1 && options.groups == s.ic && options.groups == s.oc && !options.srcNchw;
}

// Returns a lower bound: two multiply-adds a cycle. There is no alternative to compare with.
double cycles(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    const double pixels = options.transposed ? double(s.ih) * s.iw : double(s.oh) * s.ow;
    return s.batch * double(ceilDiv(s.oc, k.lanes)) * pixels * s.kh * s.kw * 0.5;
}

std::unique_ptr<ConvPlan> make(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return std::make_unique<DepthwisePlan>(k, s, options.transposed);
}

}  // namespace

const ConvImplementation kDepthwiseConv{"depthwise", accepts, cycles, make};

}  // namespace mnnc
