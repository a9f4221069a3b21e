// Resizing of packed tensors in up to three axes: the host prepares positions and weights of every axis.
#include "ops/interp.h"

#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

namespace {

class Interp final : public VulkanExecution {
  public:
    Interp(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend),
          command_(command),
          params_(command_.paramsAs<InterpCommand>()),
          input_(*command_.inputs[0]),
          output_(*command_.outputs[0]) {}

    void prepare() override {
        const int rank = input_.shape.rank();
        std::vector<uint32_t> words, counts;
        for (int i = 0; i < 3; ++i) {
            const int axis = rank == 5 ? 2 + i : 1 + i;
            const bool used = axis >= 2 && axis < rank;
            in_[i] = used ? input_.shape[axis] : 1;
            out_[i] = used ? output_.shape[axis] : 1;
            start_[i] = static_cast<int64_t>(words.size() / 2);
            // As on the CPU, an axis that only copies needs one tap, unless it is the innermost.
            const bool copies = i < 2 && in_[i] == out_[i] && params_.axis[i].a == 1.0f && params_.axis[i].b == 0.0f;
            const AxisTaps taps =
                makeAxisTaps(copies ? ResizeType::NearestFloor : params_.type, params_.axis[i], in_[i], out_[i]);
            for (size_t t = 0; t < taps.index.size(); ++t) {
                words.push_back(static_cast<uint32_t>(taps.index[t]));
                words.push_back(floatWord(taps.weight[t]));
            }
            counts.push_back(static_cast<uint32_t>(taps.taps));
        }
        table_ = backend().table(words);
        pipeline_ = &backend().pipeline("interp", output_, 3, kLocal, counts);
    }

    void encode(FrameRecorder& recorder) const override {
        const int64_t quads = output_.storageElements() / kChannelBlock;
        Push push;
        push.u(quads);
        for (const int64_t extent : out_) push.u(extent);
        for (const int64_t extent : in_) push.u(extent);
        push.u(start_[1], start_[2]);
        recorder.dispatch(*pipeline_, {{recorder.reads(input_), recorder.writes(output_), recorder.reads(*table_)}},
                          push, ceilDiv(quads, pipeline_->localSize));
    }

  private:
    const Command command_;
    const InterpCommand& params_;
    const Operand& input_;
    const Operand& output_;
    int64_t in_[3] = {1, 1, 1}, out_[3] = {1, 1, 1}, start_[3] = {0, 0, 0};
    VulkanBackend::WeightsPtr table_;
    const Pipeline* pipeline_ = nullptr;
};

bool supportsInterp(const VulkanBackend&, const Command& command, std::string& reason) {
    const Operand &input = *command.inputs[0], &output = *command.outputs[0];
    if (!command.params || input.type != DataType::Float32)
        return refuse(reason, "the Vulkan kernel resizes float tensors only");
    const int rank = input.shape.rank();
    if (input.empty() || rank > 5 || output.shape.rank() != rank || !canPack(input) || !canPack(output))
        return refuse(reason, "the Vulkan kernel resizes tensors of rank 2 to 5 that can be packed by channels");
    return true;
}

std::unique_ptr<Execution> createInterp(VulkanBackend& backend, const Command& command) {
    return std::make_unique<Interp>(backend, command);
}

}  // namespace

constexpr VulkanOp kInterp[] = {{OpType::Interp, supportsInterp, storagePacked, createInterp}};
extern constinit const VulkanFamily interpVulkan = kInterp;

}  // namespace mnnc::vulkan
