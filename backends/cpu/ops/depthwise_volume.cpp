// 3-D convolutions with a group for each channel: an output slice is the sum of 2-D depthwise convolutions, one for
// each tap in depth that lies inside of the volume. Each adds to the stored sum of those before.
#include "backends/cpu/ops/depthwise_volume.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/conv_packing.h"
#include "backends/cpu/kernels/pack.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/volume_plan.h"
#include "base/checked.h"
#include "model/model.h"

namespace mnnc::cpu {

namespace {

alignas(64) constexpr float kNoBias[16] = {};

class DepthwiseVolumeExecution final : public CommandExecution {
  public:
    DepthwiseVolumeExecution(CpuBackend& backend, const Command& command)
        : CommandExecution(command), backend_(backend) {}

    void prepare() override {
        ready_ = false;
        if (out().empty()) return;
        const auto& p = params<Conv3dParams>();
        const char* name = command().name.c_str();
        w_ = conv3dWindow(p, in(0).shape, name);
        plane_ = stackShape(p, w_, {}, 1, name);
        outside_ = plane_;
        outside_.padTop = -plane_.ih;  // no tap inside of the map
        bias_ = paddedBias(p.bias(w_.oc, name).span().data(), static_cast<int>(w_.oc));
        post_ = volumePostOps(command());
        post_.bias = bias_.data();
        const Kernels& k = backend_.kernels();
        const int64_t taps = int64_t{p.kernel[0]} * plane_.kh * plane_.kw;
        const int64_t bytes = checkedMul(blocks() * k.lanes * int64_t{sizeof(float)}, taps, name);
        const auto fill = [&](void* buffer) {
            const FloatView stored = p.weights(w_.weightCount, w_.oc, name);
            for (int64_t b = 0; b < blocks(); ++b)  // [block][tap][P]
                k.pack->rowsToBlock(stored.data() + b * k.lanes * taps, static_cast<size_t>(taps),
                                    static_cast<int>(std::min<int64_t>(k.lanes, w_.oc - b * k.lanes)),
                                    static_cast<size_t>(taps), static_cast<float*>(buffer) + b * k.lanes * taps);
        };
        packed_ = backend_.weights(command().params, format("3d/depthwise.p%d", k.lanes), bytes, fill, p.modelBytes());
        ready_ = true;
    }

    std::string algorithm() const override { return ready_ ? "3d depthwise" + epilogueText(command().epilogue) : ""; }

    void run(const Frame& frame) const override {
        if (!ready_) return;
        ThreadPool& pool = frame.pool();
        const int64_t slices = w_.batch * blocks() * w_.out[0];
        const int few = static_cast<int>(std::min<int64_t>(slices, std::numeric_limits<int>::max() / 8));
        const int pieces = taskCount(few, plane_.oh, pool.threads());
        parallelRanges(pool, static_cast<int64_t>(slices * pieces), 16 * pool.threads(),
                       [&](int64_t begin, int64_t end) {
                           for (int64_t i = begin; i < end; ++i)
                               runSlice(frame, i / pieces, static_cast<int>(i % pieces), pieces);
                       });
    }

  private:
    int64_t blocks() const { return ceilDiv(static_cast<int>(w_.oc), backend_.kernels().lanes); }

    // Computes some rows of slice z of a block; `slice` is (image * blocks + block) * depth + z.
    void runSlice(const Frame& frame, int64_t slice, int piece, int pieces) const {
        const auto& p = params<Conv3dParams>();
        const int P = backend_.kernels().lanes;
        const int64_t z = slice % w_.out[0], plane = slice / w_.out[0], block = plane % blocks();
        const int64_t area = int64_t{plane_.kh} * plane_.kw;
        const int64_t inArea = w_.in[1] * w_.in[2] * P, outArea = w_.out[1] * w_.out[2] * P;
        // Finds the taps inside of the volume.
        const int64_t from = z * p.stride[0] - w_.begin[0];
        int64_t first = from < 0 ? (-from + p.dilate[0] - 1) / p.dilate[0] : 0, last = -1;
        if (from < w_.in[0]) last = std::min<int64_t>(p.kernel[0] - 1, (w_.in[0] - 1 - from) / p.dilate[0]);
        DepthwiseArgs t{};
        t.dst = outData<float>(frame) + slice * outArea;
        t.rowBegin = chunkBegin(plane_.oh, piece, pieces);
        t.rowEnd = chunkBegin(plane_.oh, piece + 1, pieces);
        t.bias = post_.bias + block * P;
        const bool none = first > last;
        if (none) first = last = 0;
        for (int64_t tap = first; tap <= last; ++tap) {
            const bool end = tap == last;
            t.shape = none ? &outside_ : &plane_;
            t.src = inData<float>(frame, 0) + (plane * w_.in[0] + (none ? 0 : from + tap * p.dilate[0])) * inArea;
            t.w = static_cast<const float*>(packed_.get()) + (block * p.kernel[0] + tap) * area * P;
            t.act = end ? post_.act : Act::None;
            t.lo = end ? post_.lo : -std::numeric_limits<float>::infinity();
            t.hi = end ? post_.hi : std::numeric_limits<float>::infinity();
            backend_.kernels().depthwise->forward(t);
            t.bias = kNoBias;
            t.residual = t.dst;
        }
    }

    CpuBackend& backend_;
    Conv3dWindow w_;
    ConvShape plane_, outside_;  // of a slice
    PostOps post_;
    std::vector<float> bias_;
    PackedWeights packed_;
    bool ready_ = false;
};

}  // namespace

bool isDepthwiseVolume(const Command& command) {
    const auto& p = command.paramsAs<Conv3dParams>();
    const Operand& x = *command.inputs[0];
    if (p.transposed || p.group < 2 || x.empty()) return false;
    const Conv3dWindow w = conv3dWindow(p, x.shape, command.name.c_str());
    return w.groups == w.ic && w.groups == w.oc;
}

std::unique_ptr<Execution> makeDepthwiseVolume(CpuBackend& backend, const Command& command) {
    return std::make_unique<DepthwiseVolumeExecution>(backend, command);
}

}  // namespace mnnc::cpu
