// Max and average pooling of packed tensors in up to three axes. A window over a whole large plane gets a work group
// per channel quad; every other output quad gets an invocation.
#include "ops/pooling.h"

#include <algorithm>

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

namespace {

constexpr int64_t kGlobalPlane = 32;   // smaller planes are read by one invocation
constexpr int64_t kLargePlane = 2048;  // larger ones by a large group
constexpr uint32_t kLargeLocal = 256;

bool isIndexed(const Command& command) {
    return command.outputs.size() > 1;
}

// Returns whether there is one window, which covers a plane that is large enough for a group.
bool isGlobal(const Command& command, const PoolWindow& window) {
    return !isIndexed(command) && command.inputs[0]->plane() >= kGlobalPlane &&
           std::all_of(std::begin(window.axis), std::end(window.axis),
                       [](const PoolAxis& axis) { return axis.out == 1 && axis.begin == 0 && axis.kernel >= axis.in; });
}

class Pooling final : public VulkanExecution {
  public:
    Pooling(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend),
          command_(command),
          params_(command_.paramsAs<PoolParams>()),
          input_(*command_.inputs[0]),
          output_(*command_.outputs[0]) {}

    void prepare() override {
        window_ = poolWindow(params_, input_.shape, command_.name.c_str());
        global_ = isGlobal(command_, window_);
        count_ = 1;
        for (const PoolAxis& axis : window_.axis) count_ *= static_cast<float>(poolCount(axis, 0));
        if (indexed())
            pipeline_ = &backend().pipeline("pooling_index", output_.type, 3, kLocal);
        else
            pipeline_ =
                &backend().pipeline(global_ ? "pooling_global" : "pooling", output_.type, 2,
                                    global_ && input_.plane() > kLargePlane ? kLargeLocal : kLocal, {params_.average});
    }

    void encode(FrameRecorder& recorder) const override {
        const int64_t quads = output_.storageElements() / kChannelBlock;
        if (global_)
            return recorder.dispatch(*pipeline_, {{recorder.reads(input_), recorder.writes(output_)}},
                                     Push().u(input_.plane()).f(count_), quads);
        uint32_t counted = 0;
        for (int i = 0; i < 3; ++i) counted |= static_cast<uint32_t>(window_.axis[i].countsPadding) << i;
        Push push;
        push.u(quads, counted);
        for (const int PoolAxis::*field :
             {&PoolAxis::in, &PoolAxis::out, &PoolAxis::kernel, &PoolAxis::stride, &PoolAxis::begin, &PoolAxis::end})
            for (const PoolAxis& axis : window_.axis) push.u(axis.*field);
        std::vector<Binding> bindings{recorder.reads(input_), recorder.writes(output_)};
        if (indexed()) bindings.push_back(recorder.writes(*command_.outputs[1]));
        recorder.dispatch(*pipeline_, bindings, push, ceilDiv(quads, pipeline_->localSize));
    }

  private:
    bool indexed() const { return isIndexed(command_); }

    const Command command_;
    const PoolParams& params_;
    const Operand& input_;
    const Operand& output_;
    PoolWindow window_;
    bool global_ = false;
    float count_ = 1;
    const Pipeline* pipeline_ = nullptr;
};

bool supportsPooling(const VulkanBackend& backend, const Command& command, std::string& reason) {
    const Operand& input = *command.inputs[0];
    if (!command.params || input.type != DataType::Float32)
        return refuse(reason, "the Vulkan kernel pools float tensors only");
    if (input.empty() || !canPack(input) || !canPack(*command.outputs[0]))
        return refuse(reason, "the Vulkan kernel pools tensors that can be packed by channels");
    const PoolWindow window = poolWindow(command.paramsAs<PoolParams>(), input.shape, command.name.c_str());
    if (isGlobal(command, window)) return true;
    const auto taps = [&](size_t i) { return std::min(window.axis[i].kernel, window.axis[i].in); };
    return fewRounds(backend, nestedRounds({taps(0), taps(1), taps(2)}), reason);
}

std::unique_ptr<Execution> createPooling(VulkanBackend& backend, const Command& command) {
    return std::make_unique<Pooling>(backend, command);
}

}  // namespace

constexpr VulkanOp kPooling[] = {
    {OpType::Pooling, supportsPooling, storagePacked, createPooling},
    {OpType::Pooling3D, supportsPooling, storagePacked, createPooling},
};
extern constinit const VulkanFamily poolingVulkan = kPooling;

}  // namespace mnnc::vulkan
