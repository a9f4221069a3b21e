// ArgMax and ArgMin on the device, row-major; float32 and int32.
#include "ops/search.h"

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/ops/rows.h"

namespace mnnc::vulkan {

namespace {

constexpr int64_t kSharedBytes = 32;  // per invocation: values and positions

class Arg final : public VulkanExecution {
  public:
    Arg(VulkanBackend& backend, const Command& command) : VulkanExecution(backend), command_(command) {}

    void onResize() override {
        const auto& params = command_.paramsAs<SearchParams>();
        rows_ = Rows(backend(), params.outer, params.extent, params.inner, kSharedBytes);
        std::vector<uint32_t> constants = rows_.constants();
        constants.push_back(params.largest);
        pipeline_ = &backend().pipeline("search_arg", command_.inputs[0]->type, 2, rows_.localSize,
                                        std::move(constants));
    }

    void encode(Recorder& recorder) override {
        recorder.dispatch(*pipeline_, {{reads(*command_.inputs[0]), writes(*command_.outputs[0])}},
                          rows_.push(), rows_.groups(*pipeline_));
    }

  private:
    const Command command_;
    Rows rows_;
    const Pipeline* pipeline_ = nullptr;
};

bool supportsArg(const VulkanBackend&, const Command& command, std::string& reason) {
    if (command.outputs[0]->type != DataType::Int32) {
        reason = "the Vulkan kernel makes no lists of the largest values";
        return false;
    }
    return noEmptyInput(command, reason);
}

std::unique_ptr<Execution> createArg(VulkanBackend& backend, const Command& command) {
    return std::make_unique<Arg>(backend, command);
}

constexpr VulkanOp kSearch[] = {
    {OpType::ArgMax, supportsArg, nullptr, createArg},
    {OpType::ArgMin, supportsArg, nullptr, createArg},
};

}  // namespace

VulkanFamily searchVulkan() {
    return kSearch;
}

}  // namespace mnnc::vulkan
