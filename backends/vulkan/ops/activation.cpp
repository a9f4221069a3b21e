// ReLU and ReLU6 (any clip) on the device: float tensors of any storage.
#include "ops/activation.h"

#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

namespace {

class Relu final : public VulkanExecution {
  public:
    Relu(VulkanBackend& backend, const Command& command, bool clip, float a, float b)
        : VulkanExecution(backend),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]),
          clip_(clip),
          a_(a),
          b_(b) {}

    void onResize() override { pipeline_ = &backend().pipeline("relu", output_.type, 2, 64, {clip_}); }

    void encode(Recorder& recorder) override {
        const int64_t quads = ceilDiv(output_.storageElements(), 4);
        recorder.dispatch(*pipeline_, {{reads(input_), writes(output_)}}, Push().u(quads).f(a_).f(b_),
                          ceilDiv(quads, pipeline_->localSize));
    }

  private:
    const Tensor& input_;
    const Tensor& output_;
    const bool clip_;
    const float a_, b_;
    const Pipeline* pipeline_ = nullptr;
};

bool supportsFloat(const VulkanBackend&, const Command& command, std::string& reason) {
    if (command.outputs[0]->type == DataType::Float32) return true;
    reason = "the Vulkan kernel takes float tensors only";
    return false;
}

std::unique_ptr<Execution> createRelu(VulkanBackend& backend, const Command& command) {
    return std::make_unique<Relu>(backend, command, false, command.paramsAs<ReluParams>()->slope, 0.0f);
}

std::unique_ptr<Execution> createClip(VulkanBackend& backend, const Command& command) {
    const auto& params = *command.paramsAs<ClipParams>();
    return std::make_unique<Relu>(backend, command, true, params.lo, params.hi);
}

constexpr VulkanOp kActivations[] = {
    {OpType::ReLU, supportsFloat, storageFollow, createRelu},
    {OpType::ReLU6, supportsFloat, storageFollow, createClip},
};

}  // namespace

VulkanFamily activationVulkan() {
    return kActivations;
}

}  // namespace mnnc::vulkan
