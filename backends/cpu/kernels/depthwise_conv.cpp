// Depthwise convolutions, both ways.
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/conv_plans.h"
#include "backends/cpu/kernels/pack.h"
#include "base/error.h"

namespace mnnc {
namespace {

class DepthwisePlan final : public ConvPlan {
  public:
    DepthwisePlan(const Kernels& k, const ConvShape& shape, bool transposed)
        : k_(k), s_(shape), transposed_(transposed), blocks_(ceilDiv(shape.oc, k.lanes)) {}

    size_t packedWeightBytes() const override {
        return size_t(blocks_) * k_.lanes * s_.kh * s_.kw * sizeof(float);
    }

    void packWeights(const WeightReader& reader, void* packed, ThreadPool& pool) const override {
        const int P = k_.lanes, area = s_.kh * s_.kw;
        const float* weights = reader(0, size_t(s_.oc) * area);
        parallelFor(pool, blocks_, [&](int b) {
            k_.pack->rowsToBlock(weights + size_t(b) * P * area, area, std::min(P, s_.oc - b * P), area,
                                 static_cast<float*>(packed) + size_t(b) * P * area);
        });
    }

    std::string weightVariant() const override { return format("depthwise.p%d", k_.lanes); }
    size_t scratchBytes(int) const override {
        return roundUpFloats(size_t(blocks_) * k_.lanes) * sizeof(float);
    }
    std::string algorithm() const override { return transposed_ ? "depthwise_deconv" : "depthwise"; }

    void run(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
             ThreadPool& pool) const override {
        const int P = k_.lanes;
        float* bias = static_cast<float*>(scratch);
        padBias(post.bias, s_.oc, blocks_ * P, bias);
        const int planes = s_.batch * blocks_, pieces = taskCount(planes, s_.oh, pool.threads());
        const size_t in = size_t(s_.ih) * s_.iw * P, out = size_t(s_.oh) * s_.ow * P;
        parallelFor(pool, planes * pieces, [&](int task) {
            const int plane = task / pieces, piece = task % pieces, block = plane % blocks_;
            DepthwiseArgs t = depthwiseArgs(s_, P, packed, bias, post, block);
            t.src = src + plane * in;
            t.dst = dst + plane * out;
            t.residual = post.residual ? post.residual + plane * out : nullptr;
            t.rowBegin = chunkBegin(s_.oh, piece, pieces);
            t.rowEnd = chunkBegin(s_.oh, piece + 1, pieces);
            (transposed_ ? k_.depthwise->transposed : k_.depthwise->forward)(t);
        });
    }

  private:
    const Kernels& k_;
    const ConvShape s_;
    const bool transposed_;
    const int blocks_;
};

}  // namespace

std::unique_ptr<ConvPlan> makeDepthwisePlan(const Kernels& k, const ConvShape& shape, bool transposed) {
    return std::make_unique<DepthwisePlan>(k, shape, transposed);
}

}  // namespace mnnc
