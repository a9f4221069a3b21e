// ScatterNd and ScatterElements that replace. A dispatch finds, for every place of the output, the last row of updates
// that belongs there, because later updates win; the next one writes the output. A check beside them reports the first
// index outside to the host. Those that combine are in scatter_reduction.cpp.
#include "backends/vulkan/ops/scatter_plan.h"

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/ops/index_check.h"

namespace mnnc::vulkan {

namespace {

constexpr int64_t kWordBytes = 4;

class ScatterReplace final : public VulkanExecution {
  public:
    ScatterReplace(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend),
          command_(command),
          plan_(command_),
          output_(*command_.outputs[0]),
          places_(output_.elements() / plan_.slice) {}

    void prepare() override {
        clear_ = &backend().exactPipeline("scatter_clear_i32", 1, kLocal);
        last_ = &backend().exactPipeline("scatter_last_i32", 2, kLocal, plan_.placeConstants());
        write_ = &backend().pipeline("scatter", output_, 4, kLocal, {plan_.data != nullptr});
        check_.plan(backend(), plan_.bounds, plan_.indices->elements());
        requestScratch(scratchSize());
    }

    void encode(FrameRecorder& recorder) const override {
        const Binding indices = recorder.reads(*plan_.indices);
        recorder.dispatch(*clear_, {{recorder.scratch(0, scratchSize(), true)}}, Push().u(places_),
                          ceilDiv(places_, clear_->localSize));
        recorder.dispatch(*last_, {{indices, recorder.scratch(0, scratchSize(), true)}}, plan_.placePush(),
                          ceilDiv(plan_.rows, last_->localSize));
        const Binding updates = recorder.reads(*plan_.updates);
        recorder.dispatch(*write_,
                          {{recorder.scratch(0, scratchSize(), false), updates,
                            plan_.data ? recorder.reads(*plan_.data) : updates, recorder.writes(output_)}},
                          Push().u(output_.elements(), plan_.slice), ceilDiv(output_.elements(), write_->localSize));
        check_.encode(recorder, indices, recorder.writesReport());
    }

    int64_t reportBytes() const override { return check_.reportBytes(); }
    void afterRun(const uint32_t* report) const override { check_.read(command_.name, report); }

  private:
    int64_t scratchSize() const { return roundUp(places_ * kWordBytes, 16); }

    const Command command_;
    const ScatterPlan plan_;
    const Operand& output_;
    const int64_t places_;  // elements of the output divided by those of a row of updates
    IndexCheck check_;
    const Pipeline *clear_ = nullptr, *last_ = nullptr, *write_ = nullptr;
};

bool supportsScatter(const VulkanBackend& backend, const Command& command, std::string& reason) {
    const ScatterPlan plan(command);
    const Operand& output = *command.outputs[0];
    if (output.empty() || plan.indices->empty() || plan.updates->empty() || plan.depth == 0 ||
        plan.updates->type != output.type || (plan.data && plan.data->type != output.type))
        return refuse(reason, "the Vulkan kernel takes data and updates of one type, and indices, that are not empty");
    const int64_t needed = plan.reduction == Scatter::Replace ? roundUp(output.elements() / plan.slice * kWordBytes, 16)
                                                              : scatterListBytes(plan);
    if (needed > backend.limits().storageRange)
        return refuse(reason, format("its places exceed what the device binds at once (%lld bytes)",
                                     asLong(backend.limits().storageRange)));
    if (plan.reduction == Scatter::Replace) return true;
    // One invocation combines all updates of a place, and contents decide how many these are.
    constexpr int64_t kMaxUpdates = 1 << 21;
    if (plan.rows > kMaxUpdates)
        return refuse(reason, format("the Vulkan kernel combines up to %lld rows of updates", asLong(kMaxUpdates)));
    return fewRounds(backend, plan.rows, reason);
}

std::unique_ptr<Execution> createScatter(VulkanBackend& backend, const Command& command) {
    if (ScatterPlan(command).reduction != Scatter::Replace) return makeScatterReduction(backend, command);
    return std::make_unique<ScatterReplace>(backend, command);
}

}  // namespace

constexpr VulkanOp kScatter[] = {
    {OpType::ScatterNd, supportsScatter, nullptr, createScatter},
    {OpType::ScatterElements, supportsScatter, nullptr, createScatter},
};
extern constinit const VulkanFamily scatterVulkan = kScatter;

}  // namespace mnnc::vulkan
