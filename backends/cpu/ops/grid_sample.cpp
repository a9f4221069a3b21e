// GridSample: threads divide the outputs of a batch element into pieces, whose taps serve all channels, and, where
// these pieces are few, also the channels into groups. Tensors of few channels stay row-major, because packing would
// mostly copy padding.
#include "ops/grid_sample.h"

#include <algorithm>

#include "backends/cpu/kernels/resample/sampling.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

namespace {

class GridSampleExecution final : public CommandExecution {
  public:
    GridSampleExecution(CpuBackend& backend, const Command& command)
        : CommandExecution(command), kernels_(samplingKernels(backend.kernels().id)) {}

    void prepare() override {
        const auto& p = params<GridSampleParams>();
        const Shape& x = in(0).shape;
        plan_.axes = x.rank() - 2;
        plan_.nearest = p.nearest;
        plan_.alignCorners = p.alignCorners;
        plan_.padding = static_cast<GridPlan::Padding>(p.padding);
        for (int i = 0; i < plan_.axes; ++i) plan_.extent[i] = static_cast<int32_t>(x[x.rank() - 1 - i]);
        tapCount_ = p.nearest ? 1 : 1 << plan_.axes;
        packed_ = in(0).channelBlock > 1;
        lanes_ = packed_ ? kernels_.lanes : 1;
        blocks_ = ceilDiv(x[1], int64_t{lanes_});
        inPlane_ = in(0).plane();
        outPlane_ = out().plane();
    }

    void run(const Frame& frame) const override {
        if (out().empty()) return;
        ThreadPool& pool = frame.pool();
        const int64_t pieces = ceilDiv(outPlane_, int64_t{kGridOutputs}), batch = in(0).shape[0];
        const int64_t wanted = ceilDiv(int64_t{4} * pool.threads(), batch * pieces);
        const int64_t groups = pool.threads() == 1 ? 1 : std::clamp<int64_t>(wanted, 1, blocks_);
        parallelRanges(pool, static_cast<int64_t>(batch * pieces * groups), 4 * pool.threads(),
                       [&](int64_t begin, int64_t end) {
                           for (int64_t i = begin; i < end; ++i) {
                               const int64_t group = i % groups, rest = i / groups;
                               samplePiece(frame, rest / pieces, rest % pieces * kGridOutputs, blocks_ * group / groups,
                                           blocks_ * (group + 1) / groups);
                           }
                       });
    }

  private:
    // Samples outputs [first, first + kGridOutputs) of blocks [block, end).
    void samplePiece(const Frame& frame, int64_t n, int64_t first, int64_t block, int64_t end) const noexcept {
        const int outputs = static_cast<int>(std::min<int64_t>(kGridOutputs, outPlane_ - first));
        GridTaps taps;
        kernels_.gridTaps(plan_, inData<float>(frame, 1) + (n * outPlane_ + first) * plan_.axes, outputs, taps);
        const auto sample = packed_ ? kernels_.samplePacked : kernels_.samplePlane;
        for (; block < end; ++block)
            sample(inData<float>(frame, 0) + (n * blocks_ + block) * inPlane_ * lanes_, taps, tapCount_, outputs,
                   outData<float>(frame) + ((n * blocks_ + block) * outPlane_ + first) * lanes_);
    }

    const SamplingKernels& kernels_;
    GridPlan plan_;
    int tapCount_ = 1;
    bool packed_ = false;
    int64_t lanes_ = 1, blocks_ = 0, inPlane_ = 0, outPlane_ = 0;
};

std::unique_ptr<Execution> createGridSample(CpuBackend& backend, const Command& command, std::string&) {
    return std::make_unique<GridSampleExecution>(backend, command);
}

StorageChoice gridSampleStorage(const CpuBackend& backend, const Command& command) {
    if (2 * command.inputs[0]->shape.at(1) <= backend.channelBlock()) return {};
    return storagePacked(backend, command);
}

}  // namespace

constexpr CpuOp kGridSampleCpu[] = {{OpType::GridSample, gridSampleStorage, createGridSample}};
extern constinit const CpuFamily gridSampleCpu = kGridSampleCpu;

}  // namespace mnnc::cpu
