// Gathers on row-major tensors. Indices are checked on the device: one outside gives zeros, as on the CPU.
#include "ops/gather.h"

#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/vulkan_execution.h"
#include "tensor/region_builder.h"

namespace mnnc::vulkan {

namespace {

constexpr uint32_t kLocal = 64;

// One dispatch over `total` outputs of a kernel that reads data and indices.
class GatherBase : public VulkanExecution {
  public:
    GatherBase(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend), command_(command) {}

    void encode(Recorder& recorder) override {
        recorder.dispatch(
            *pipeline_,
            {{reads(*command_.inputs[0]), reads(*command_.inputs[1]), writes(*command_.outputs[0])}}, push_,
            ceilDiv(total_, pipeline_->localSize));
    }

  protected:
    void choose(const char* shader, uint32_t constant, int64_t total) {
        pipeline_ = &backend().pipeline(shader, command_.outputs[0]->type, 3, kLocal, {constant});
        total_ = total;
        push_ = Push();
        push_.u(total);
    }

    const Command command_;
    Push push_;

  private:
    int64_t total_ = 0;
    const Pipeline* pipeline_ = nullptr;
};

class Gather final : public GatherBase {
  public:
    using GatherBase::GatherBase;
    void onResize() override {
        const auto& p = *command_.paramsAs<GatherParams>();
        const bool quads = p.inner % 4 == 0;
        const int64_t inner = quads ? p.inner / 4 : p.inner;
        choose("gather", quads, p.outer * p.count * inner);
        push_.u(p.extent).u(inner).u(p.count);
    }
};

class GatherNd final : public GatherBase {
  public:
    using GatherBase::GatherBase;
    void onResize() override {
        const auto& p = *command_.paramsAs<GatherNdParams>();
        choose("gather_nd", static_cast<uint32_t>(p.depth), p.rows * p.slice);
        push_.u(p.slice);
        for (const int64_t extent : p.extent) push_.u(extent);
        for (const int64_t stride : p.stride) push_.u(stride);
    }
};

class GatherElements final : public GatherBase {
  public:
    using GatherBase::GatherBase;
    void onResize() override {
        const Shape &data = command_.inputs[0]->shape, &indices = command_.inputs[1]->shape;
        const int axis = command_.paramsAs<ElementsParams>()->axis;
        const Strides strides = rowMajorStrides(data);
        const auto stride = [&](int i) { return strides[static_cast<size_t>(i)]; };
        choose("gather_elements", static_cast<uint32_t>(indices.rank()), indices.elements());
        push_.u(data[axis]).u(stride(axis));
        for (int i = 0; i < kMaxRank; ++i) push_.u(indices.at(i));
        for (int i = 0; i < kMaxRank; ++i) push_.u(i < data.rank() && i != axis ? stride(i) : 0);
    }
};

bool supportsGather(const VulkanBackend&, const Command& command, std::string& reason) {
    if (command.inputs[0]->empty() || command.inputs[1]->empty() ||
        command.inputs[0]->type != command.outputs[0]->type || command.inputs[1]->type != DataType::Int32) {
        reason = "the Vulkan kernels gather from tensors that are not empty, by int32 indices";
        return false;
    }
    if (command.type == OpType::GatherND && !command.paramsAs<GatherNdParams>()->checkEach) {
        reason = "the Vulkan kernel checks every index of a row by itself, which batched rows do not allow";
        return false;
    }
    if (command.type == OpType::GatherElements) {
        const Shape &data = command.inputs[0]->shape, &indices = command.inputs[1]->shape;
        const int axis = command.paramsAs<ElementsParams>()->axis;
        for (int i = 0; i < data.rank(); ++i)
            if (i != axis && indices[i] > data[i]) {
                reason =
                    "the Vulkan kernel takes indices that reach beyond the data along their own axis only";
                return false;
            }
    }
    return true;
}

template <typename T>
std::unique_ptr<Execution> make(VulkanBackend& backend, const Command& command) {
    return std::make_unique<T>(backend, command);
}

constexpr VulkanOp kGather[] = {
    {OpType::GatherV2, supportsGather, nullptr, make<Gather>},
    {OpType::GatherND, supportsGather, nullptr, make<GatherNd>},
    {OpType::GatherElements, supportsGather, nullptr, make<GatherElements>},
};

}  // namespace

VulkanFamily gatherVulkan() {
    return kGather;
}

}  // namespace mnnc::vulkan
