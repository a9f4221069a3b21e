// An element-wise operator of one operand in one dispatch over quads: y = f(x), storage of any kind, equal on both
// sides. The kernel binds source and destination; its push words are the number of quads and two floats.
#pragma once
#include <utility>

#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

class ElementwiseQuads final : public VulkanExecution {
  public:
    // like: the tensor whose element type chooses the shader's variant.
    ElementwiseQuads(VulkanBackend& backend, const Command& command, std::string shader, const Operand& like,
                     std::vector<uint32_t> constants, float a = 0, float b = 0)
        : VulkanExecution(backend),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]),
          shader_(std::move(shader)),
          like_(like),
          constants_(std::move(constants)),
          a_(a),
          b_(b) {}

    void prepare() override { pipeline_ = &backend().pipeline(shader_, like_, 2, 64, constants_); }

    void encode(FrameRecorder& recorder) const override {
        const int64_t quads = ceilDiv(output_.storageElements(), 4);
        recorder.dispatch(*pipeline_, {{recorder.reads(input_), recorder.writes(output_)}}, Push().u(quads).f(a_, b_),
                          ceilDiv(quads, pipeline_->localSize));
    }

  private:
    const Operand& input_;
    const Operand& output_;
    const std::string shader_;
    const Operand& like_;
    const std::vector<uint32_t> constants_;
    const float a_, b_;
    const Pipeline* pipeline_ = nullptr;
};

}  // namespace mnnc::vulkan
