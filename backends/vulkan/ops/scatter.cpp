// ScatterNd and ScatterElements that replace. A dispatch finds for every place of the output the last row of updates that
// belongs there, because later updates win; the next one writes the output. A check beside them reports the first index
// outside to the host.
#include "ops/scatter.h"

#include <algorithm>

#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/ops/index_check.h"
#include "backends/vulkan/vulkan_execution.h"
#include "tensor/region_builder.h"

namespace mnnc::vulkan {

namespace {

constexpr uint32_t kLocal = 64;
constexpr int64_t kWordBytes = 4;

// What both operators come down to.
struct Plan {
    const Tensor *indices, *updates, *data;  // data: null where the output starts as zeros
    IndexBounds bounds;
    int64_t rows = 0, slice = 1;
    int depth = 1, axis = -1;  // axis: of ScatterElements
    int64_t extent[kMaxRank] = {}, stride[kMaxRank] = {}, size[kMaxRank] = {};
    bool replaces = true;
};

Plan planOf(const Command& command) {
    Plan plan{};
    if (command.type == OpType::ScatterNd) {
        const auto& p = command.paramsAs<ScatterNdParams>();
        plan.indices = command.inputs[0];
        plan.updates = command.inputs[1];
        plan.data = command.inputs.size() > 2 ? command.inputs[2] : nullptr;
        plan.bounds = p.bounds;
        plan.rows = p.rows;
        plan.slice = p.slice;
        plan.depth = p.bounds.depth;
        plan.axis = -1;
        for (int j = 0; j < p.bounds.depth; ++j) {
            plan.extent[j] = p.bounds.extent[j];
            plan.stride[j] = p.slice > 0 ? p.stride[j] / p.slice : 0;
        }
        plan.replaces = p.reduction == Scatter::Replace;
        return plan;
    }
    const auto& p = command.paramsAs<ScatterElementsParams>();
    plan.data = command.inputs[0];
    plan.indices = command.inputs[1];
    plan.updates = command.inputs[2];
    const Shape &data = plan.data->shape, &indices = plan.indices->shape;
    plan.bounds = IndexBounds::ofAxis(data[p.axis]);
    plan.rows = indices.elements();
    plan.slice = 1;
    plan.depth = data.rank();
    plan.axis = p.axis;
    const Strides strides = rowMajorStrides(data);
    for (int j = 0; j < data.rank(); ++j) {
        plan.extent[j] = data[j];
        plan.stride[j] = strides[static_cast<size_t>(j)];
        plan.size[j] = indices[j];
    }
    plan.replaces = p.reduction == Scatter::Replace;
    return plan;
}

class ScatterExecution final : public VulkanExecution {
  public:
    ScatterExecution(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend),
          command_(command),
          plan_(planOf(command_)),
          output_(*command_.outputs[0]),
          places_(output_.elements() / plan_.slice) {}

    void onResize() override {
        const bool elements = plan_.axis >= 0;
        clear_ = &backend().exactPipeline("scatter_clear_i32", 1, kLocal);
        last_ = &backend().exactPipeline(
            "scatter_last_i32", 2, kLocal,
            {static_cast<uint32_t>(plan_.depth), elements, static_cast<uint32_t>(std::max(plan_.axis, 0))});
        write_ = &backend().pipeline("scatter", output_.type, 4, kLocal, {plan_.data != nullptr});
        check_.plan(backend(), plan_.bounds, plan_.indices->elements());
        requestScratch(scratchSize());
    }

    void encode(Recorder& recorder) override {
        const Binding indices = reads(*plan_.indices);
        recorder.dispatch(*clear_, {{scratch(0, scratchSize(), true)}}, Push().u(places_),
                          ceilDiv(places_, clear_->localSize));
        Push push;
        push.u(plan_.rows);
        for (const int64_t extent : plan_.extent) push.u(extent);
        for (const int64_t stride : plan_.stride) push.u(stride);
        for (const int64_t size : plan_.size) push.u(size);
        recorder.dispatch(*last_, {{indices, scratch(0, scratchSize(), true)}}, push,
                          ceilDiv(plan_.rows, last_->localSize));
        const Binding updates = reads(*plan_.updates);
        recorder.dispatch(*write_,
                          {{scratch(0, scratchSize(), false), updates,
                            plan_.data ? reads(*plan_.data) : updates, writes(output_)}},
                          Push().u(output_.elements()).u(plan_.slice),
                          ceilDiv(output_.elements(), write_->localSize));
        check_.encode(recorder, indices, writesReport());
    }

    int64_t reportBytes() const override { return check_.reportBytes(); }
    void afterRun() const override { check_.read(command_.name, report()); }

  private:
    int64_t scratchSize() const { return roundUp(places_ * kWordBytes, 16); }

    const Command command_;
    const Plan plan_;
    const Tensor& output_;
    const int64_t places_;  // elements of the output over those of a row of updates
    IndexCheck check_;
    const Pipeline *clear_ = nullptr, *last_ = nullptr, *write_ = nullptr;
};

bool supportsScatter(const VulkanBackend& backend, const Command& command, std::string& reason) {
    const Plan plan = planOf(command);
    const Tensor& output = *command.outputs[0];
    if (!plan.replaces) {
        reason = "the Vulkan kernel replaces; updates that are combined with what is there come in order";
        return false;
    }
    if (output.empty() || plan.indices->empty() || plan.updates->empty() || plan.depth == 0 ||
        plan.updates->type != output.type || (plan.data && plan.data->type != output.type)) {
        reason = "the Vulkan kernel takes data and updates of one type, and indices, that are not empty";
        return false;
    }
    if (roundUp(output.elements() / plan.slice * kWordBytes, 16) > backend.limits().storageRange) {
        reason = format("its places exceed what the device binds at once (%lld bytes)",
                        static_cast<long long>(backend.limits().storageRange));
        return false;
    }
    return true;
}

std::unique_ptr<Execution> createScatter(VulkanBackend& backend, const Command& command) {
    return std::make_unique<ScatterExecution>(backend, command);
}

constexpr VulkanOp kScatter[] = {
    {OpType::ScatterNd, supportsScatter, nullptr, createScatter},
    {OpType::ScatterElements, supportsScatter, nullptr, createScatter},
};

}  // namespace

VulkanFamily scatterVulkan() {
    return kScatter;
}

}  // namespace mnnc::vulkan
