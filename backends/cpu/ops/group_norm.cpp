// GroupNorm on the CPU, row-major: a group is a row, which stays in the cache through all steps.
#include "ops/group_norm.h"

#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/split.h"
#include "ops/unary.h"

namespace mnnc::cpu {
namespace {

class GroupNorm final : public CommandExecution {
  public:
    GroupNorm(const CpuBackend& backend, const Command& command)
        : CommandExecution(command),
          unary_(unaryKernels(backend.kernels().id)),
          rows_(rowKernels(backend.kernels().id)),
          params_(params<GroupNormParams>()) {}

    void run(const Frame& frame) const override {
        if (out().empty()) return;
        const Shape& shape = in(0).shape;
        const int64_t channels = shape[1] / params_.groups, plane = shape.elements(2, shape.rank());
        forRows(frame.pool(), shape[0] * params_.groups, channels * plane * 6, [&](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; ++row) group(frame, row, channels, plane);
        });
    }

    // The output may share the input's memory: a group is read before it is written.
    uint32_t inPlaceInputs(size_t) const override { return 1; }

  private:
    void group(const Frame& frame, int64_t row, int64_t channels, int64_t plane) const {
        const size_t n = static_cast<size_t>(plane);
        const float* x = inData<float>(frame, 0) + row * channels * plane;
        float* y = outData<float>(frame) + row * channels * plane;
        if (command().inputs.size() > 1) {
            const float* added = inData<float>(frame, 1) + row * channels;
            for (int64_t c = 0; c < channels; ++c) unary_.affine(x + c * plane, y + c * plane, n, 1, added[c]);
            x = y;
        }
        rows_.norm(x, y, static_cast<size_t>(channels * plane), nullptr, nullptr, params_.epsilon, false);
        const int64_t first = row % params_.groups * channels;
        for (int64_t c = 0; c < channels; ++c) {
            float* place = y + c * plane;
            const size_t i = static_cast<size_t>(first + c);
            if (!params_.gamma.empty()) unary_.affine(place, place, n, params_.gamma[i], params_.beta[i]);
        }
        if (params_.silu) unary_.byCode[kUnarySilu](y, y, static_cast<size_t>(channels * plane));
    }

    const UnaryKernels& unary_;
    const RowKernels& rows_;
    const GroupNormParams& params_;
};

std::unique_ptr<Execution> createGroupNorm(CpuBackend& backend, const Command& command, std::string&) {
    return std::make_unique<GroupNorm>(backend, command);
}

}  // namespace

constexpr CpuOp kGroupNormCpu[] = {{OpType::GroupNorm, nullptr, createGroupNorm}};
extern constinit const CpuFamily groupNormCpu = kGroupNormCpu;

}  // namespace mnnc::cpu
