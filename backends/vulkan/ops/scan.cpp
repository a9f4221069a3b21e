// CumSum and CumProd, MatrixBandPart, OneHot: plain loops over row-major tensors.
#include "ops/scan.h"

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/vulkan_execution.h"
#include "ops/fill.h"

namespace mnnc::vulkan {

namespace {

constexpr int64_t kLongLine = 4096, kFewLines = 64;

// One dispatch that binds all inputs, then the output.
class Loop final : public VulkanExecution {
  public:
    struct Kernel {
        const char* shader;
        std::vector<uint32_t> constants;
        int64_t invocations;
        Push push;  // follows the number of invocations
    };
    Loop(VulkanBackend& backend, const Command& command, Kernel kernel)
        : VulkanExecution(backend), command_(command), kernel_(std::move(kernel)) {}

    void prepare() override {
        pipeline_ = &backend().pipeline(kernel_.shader, *command_.outputs[0],
                                        static_cast<uint32_t>(command_.inputs.size()) + 1, kLocal, kernel_.constants);
    }

    void encode(FrameRecorder& recorder) const override {
        std::vector<Binding> bindings;
        for (const Operand* input : command_.inputs) bindings.push_back(recorder.reads(*input));
        bindings.push_back(recorder.writes(*command_.outputs[0]));
        recorder.dispatch(*pipeline_, bindings, kernel_.push, ceilDiv(kernel_.invocations, pipeline_->localSize));
    }

  private:
    const Command command_;
    const Kernel kernel_;
    const Pipeline* pipeline_ = nullptr;
};

bool anyEmpty(const Command& command) {
    for (const Operand* input : command.inputs)
        if (input->empty()) return true;
    return false;
}

bool supportsScan(const VulkanBackend& backend, const Command& command, std::string& reason) {
    const auto& p = command.paramsAs<ScanParams>();
    if (anyEmpty(command) || command.inputs.size() != 1 || command.inputs[0]->type != command.outputs[0]->type)
        return refuse(reason, "the Vulkan kernel scans one tensor that is not empty into one of its type");
    if (p.extent > kLongLine && p.outer * p.inner < kFewLines)
        return refuse(reason, "the Vulkan kernel walks every line in order: few long ones are faster on the CPU");
    return fewRounds(backend, p.extent, reason);
}

std::unique_ptr<Execution> createScan(VulkanBackend& backend, const Command& command) {
    const auto& p = command.paramsAs<ScanParams>();
    const int64_t lines = p.outer * p.inner;
    const bool product = command.type == OpType::CumProd;
    return std::make_unique<Loop>(
        backend, command,
        Loop::Kernel{"scan", {product, p.exclusive, p.reverse}, lines, Push().u(lines, p.extent, p.inner)});
}

bool supportsBandPart(const VulkanBackend&, const Command& command, std::string& reason) {
    if (!anyEmpty(command) && command.inputs.size() == 3 && command.inputs[0]->type == DataType::Float32 &&
        command.inputs[1]->type == DataType::Int32 && command.inputs[2]->type == DataType::Int32)
        return true;
    return refuse(reason, "the Vulkan kernel keeps bands of float matrices, with int32 widths");
}

std::unique_ptr<Execution> createBandPart(VulkanBackend& backend, const Command& command) {
    const Shape& shape = command.inputs[0]->shape;
    const int64_t total = shape.elements();
    return std::make_unique<Loop>(
        backend, command,
        Loop::Kernel{"scan_band_part", {}, total, Push().u(total, shape[shape.rank() - 2], shape[shape.rank() - 1])});
}

bool supportsOneHot(const VulkanBackend&, const Command& command, std::string& reason) {
    const DataType type = command.outputs[0]->type;
    if (!anyEmpty(command) && command.inputs.size() == 3 && command.inputs[0]->type == DataType::Int32 &&
        command.inputs[1]->type == type && command.inputs[2]->type == type)
        return true;
    return refuse(reason, "the Vulkan kernel takes int32 indices, and on and off values of the output's type");
}

std::unique_ptr<Execution> createOneHot(VulkanBackend& backend, const Command& command) {
    const auto& p = command.paramsAs<OneHotParams>();
    const int64_t total = p.outer * p.depth * p.inner;
    return std::make_unique<Loop>(
        backend, command, Loop::Kernel{"scan_one_hot", {}, total, Push().u(total, p.depth, p.inner, p.fromEnd)});
}

}  // namespace

constexpr VulkanOp kScan[] = {
    {OpType::CumSum, supportsScan, nullptr, createScan},
    {OpType::CumProd, supportsScan, nullptr, createScan},
    {OpType::MatrixBandPart, supportsBandPart, nullptr, createBandPart},
    {OpType::OneHot, supportsOneHot, nullptr, createOneHot},
};
extern constinit const VulkanFamily scanVulkan = kScan;

}  // namespace mnnc::vulkan
