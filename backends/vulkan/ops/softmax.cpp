// Softmax on the device: float32, row-major, any axis.
#include "ops/softmax.h"

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/ops/rows.h"

namespace mnnc::vulkan {

namespace {

class Softmax final : public VulkanExecution {
  public:
    Softmax(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend), command_(command), input_(*command_.inputs[0]), output_(*command_.outputs[0]) {}

    static Rows rowsOf(const VulkanBackend& backend, const Command& command) {
        const Shape& shape = command.inputs[0]->shape;
        const int rank = shape.rank();
        if (rank == 0) return {};
        const int axis = normalizeAxis(command.paramsAs<SoftmaxParams>().axis, rank, "Softmax");
        return {backend, shape.elements(0, axis), shape[axis], shape.elements(axis + 1, rank), 16};
    }

    void prepare() override {
        rows_ = rowsOf(backend(), command_);
        pipeline_ = &backend().pipeline("softmax", output_.type, 2, rows_.localSize, rows_.constants());
    }

    void encode(FrameRecorder& recorder) const override {
        recorder.dispatch(*pipeline_, {{recorder.reads(input_), recorder.writes(output_)}}, rows_.push(),
                          rows_.groups(*pipeline_));
    }

  private:
    const Command command_;
    const Operand& input_;
    const Operand& output_;
    Rows rows_;
    const Pipeline* pipeline_ = nullptr;
};

bool supportsSoftmax(const VulkanBackend& backend, const Command& command, std::string& reason) {
    return supportsFloat(backend, command, reason) &&
           fewRounds(backend, Softmax::rowsOf(backend, command).rounds(3), reason);
}

std::unique_ptr<Execution> createSoftmax(VulkanBackend& backend, const Command& command) {
    return std::make_unique<Softmax>(backend, command);
}

}  // namespace

constexpr VulkanOp kSoftmax[] = {{OpType::Softmax, supportsSoftmax, nullptr, createSoftmax}};
extern constinit const VulkanFamily softmaxVulkan = kSoftmax;

}  // namespace mnnc::vulkan
