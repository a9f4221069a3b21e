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
        : VulkanExecution(backend),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]),
          axis_(command.paramsAs<SoftmaxParams>().axis) {}

    void prepare() override {
        const Shape& shape = input_.shape;
        const int rank = shape.rank();
        const int axis = rank > 0 ? normalizeAxis(axis_, rank, "Softmax") : 0;
        rows_ = rank > 0 ? Rows(backend(), shape.elements(0, axis), shape[axis], shape.elements(axis + 1, rank), 16)
                         : Rows();
        pipeline_ = &backend().pipeline("softmax", output_.type, 2, rows_.localSize, rows_.constants());
    }

    void encode(FrameRecorder& recorder) const override {
        recorder.dispatch(*pipeline_, {{recorder.reads(input_), recorder.writes(output_)}}, rows_.push(),
                          rows_.groups(*pipeline_));
    }

  private:
    const Operand& input_;
    const Operand& output_;
    const int axis_;
    Rows rows_;
    const Pipeline* pipeline_ = nullptr;
};

std::unique_ptr<Execution> createSoftmax(VulkanBackend& backend, const Command& command) {
    return std::make_unique<Softmax>(backend, command);
}

}  // namespace

constexpr VulkanOp kSoftmax[] = {{OpType::Softmax, supportsFloat, nullptr, createSoftmax}};
extern constinit const VulkanFamily softmaxVulkan = kSoftmax;

}  // namespace mnnc::vulkan
