// LayerNorm (row-major) and InstanceNorm (row-major or packed) on the device, by one kernel.
#include "ops/layer_norm.h"

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/ops/rows.h"
#include "ops/channel_axis.h"
#include "ops/scale.h"

namespace mnnc::vulkan {

namespace {

enum class Affine : uint32_t { None = 0, AlongRow = 1, PerRow = 2 };  // see layer_norm.comp

class RowNorm : public VulkanExecution {
  public:
    RowNorm(VulkanBackend& backend, const Command& command) : VulkanExecution(backend), command_(command) {}

    void encode(FrameRecorder& recorder) const override {
        const Operand& input = *command_.inputs[0];
        recorder.dispatch(*pipeline_,
                          {{recorder.reads(input), values_ ? recorder.reads(*values_) : recorder.reads(input),
                            recorder.writes(output())}},
                          rows_.push().f(epsilon_).u(count_, ceilDiv(count_, 4)), rows_.groups(*pipeline_));
    }

  protected:
    static constexpr int64_t kSharedBytes = 16;  // per invocation
    const Operand& output() const { return *command_.outputs[0]; }

    void prepareRows(const Rows& rows, Affine affine, bool rms, float epsilon, const std::vector<float>& gamma,
                     const std::vector<float>& beta) {
        rows_ = rows;
        epsilon_ = epsilon;
        count_ = static_cast<int64_t>(gamma.size());
        const int64_t padded = roundUp(count_, 4);
        if (affine != Affine::None)
            values_ = backend().weights(
                command_.params, "norm values", 2 * padded,
                [&](std::vector<float>& values) {
                    std::copy(gamma.begin(), gamma.end(), values.begin());
                    std::copy(beta.begin(), beta.end(), values.begin() + padded);
                },
                true);
        std::vector<uint32_t> constants = rows_.constants();
        constants.insert(constants.end(), {rms, static_cast<uint32_t>(affine)});
        pipeline_ = &backend().pipeline("layer_norm", output().type, 3, rows_.localSize, constants);
    }

    const Command command_;

  private:
    Rows rows_;
    float epsilon_ = 0;
    int64_t count_ = 0;  // gamma values
    VulkanBackend::WeightsPtr values_;
    const Pipeline* pipeline_ = nullptr;
};

class LayerNorm final : public RowNorm {
  public:
    using RowNorm::RowNorm;
    static Rows rowsOf(const VulkanBackend& backend, const Command& command) {
        const NormBlocks blocks =
            normBlocks(command.paramsAs<LayerNormParams>(), command.outputs[0]->shape, command.name.c_str());
        return {backend, blocks.outer, blocks.length, blocks.inner, kSharedBytes};
    }
    void prepare() override {
        const auto& params = command_.paramsAs<LayerNormParams>();
        prepareRows(rowsOf(backend(), command_), params.gamma.empty() ? Affine::None : Affine::AlongRow, params.rms,
                    params.epsilon, params.gamma, params.beta);
    }
};

class InstanceNorm final : public RowNorm {
  public:
    using RowNorm::RowNorm;
    static Rows rowsOf(const VulkanBackend& backend, const Command& command) {
        const Operand& tensor = *command.outputs[0];
        const auto channels = static_cast<int64_t>(command.paramsAs<InstanceNormParams>().scale.size());
        const int64_t batch = tensor.shape[0], plane = tensor.elements() / (batch * channels);
        if (tensor.channelBlock > 1) return {backend, Packed(tensor), kSharedBytes};
        if (channelAxis(tensor) == 1) return {backend, batch * channels, plane, 1, kSharedBytes};
        return {backend, batch, plane, channels, kSharedBytes};
    }
    void prepare() override {
        const auto& params = command_.paramsAs<InstanceNormParams>();
        prepareRows(rowsOf(backend(), command_), Affine::PerRow, false, params.epsilon, params.scale, params.bias);
    }
};

// Mean, variance and results take a pass each.
bool supportsLayer(const VulkanBackend& backend, const Command& command, std::string& reason) {
    return supportsFloat(backend, command, reason) &&
           fewRounds(backend, LayerNorm::rowsOf(backend, command).rounds(3), reason);
}

bool supportsInstance(const VulkanBackend& backend, const Command& command, std::string& reason) {
    if (command.inputs.size() > 1)
        return refuse(reason, "the Vulkan kernel computes mean and variance itself and takes none");
    return supportsFloat(backend, command, reason) &&
           fewRounds(backend, InstanceNorm::rowsOf(backend, command).packedRounds(3), reason);
}

template <class Norm>
std::unique_ptr<Execution> createNorm(VulkanBackend& backend, const Command& command) {
    return std::make_unique<Norm>(backend, command);
}

}  // namespace

constexpr VulkanOp kLayerNorm[] = {
    {OpType::LayerNorm, supportsLayer, nullptr, createNorm<LayerNorm>},
    {OpType::InstanceNorm, supportsInstance, storageFollow, createNorm<InstanceNorm>},
};
extern constinit const VulkanFamily layerNormVulkan = kLayerNorm;

}  // namespace mnnc::vulkan
