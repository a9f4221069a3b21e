// Gathers on row-major tensors. Negative indices count from the end. The kernels ignore indices outside of their axis,
// and unless planning has seen all indices, a check beside them reports the first such index to the host.
#include "ops/gather.h"

#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/ops/index_check.h"
#include "backends/vulkan/vulkan_execution.h"
#include "tensor/region_builder.h"

namespace mnnc::vulkan {

namespace {

// One dispatch over `total` outputs of a kernel that reads data and indices.
class GatherBase : public VulkanExecution {
  public:
    GatherBase(VulkanBackend& backend, const Command& command) : VulkanExecution(backend), command_(command) {}

    void encode(FrameRecorder& recorder) const override {
        recorder.dispatch(*pipeline_,
                          {{recorder.reads(*command_.inputs[0]), recorder.reads(*command_.inputs[1]),
                            recorder.writes(*command_.outputs[0])}},
                          push_, ceilDiv(total_, pipeline_->localSize));
        if (check_.planned()) check_.encode(recorder, recorder.reads(*command_.inputs[1]), recorder.writesReport());
    }
    int64_t reportBytes() const override { return check_.reportBytes(); }
    void afterRun(const uint32_t* report) const override { check_.read(command_.name, report); }

  protected:
    void choose(const char* shader, uint32_t constant, int64_t total) {
        pipeline_ = &backend().pipeline(shader, *command_.outputs[0], 3, kLocal, {constant});
        total_ = total;
        push_ = Push();
        push_.u(total);
    }

    void check(const IndexBounds& bounds, bool done) {
        if (!done) check_.plan(backend(), bounds, command_.inputs[1]->elements());
    }

    const Command command_;
    Push push_;

  private:
    IndexCheck check_;
    int64_t total_ = 0;
    const Pipeline* pipeline_ = nullptr;
};

class Gather final : public GatherBase {
  public:
    using GatherBase::GatherBase;
    void prepare() override {
        const auto& p = command_.paramsAs<GatherParams>();
        const bool quads = p.inner % 4 == 0;
        const int64_t inner = quads ? p.inner / 4 : p.inner;
        choose("gather", quads, p.outer * p.count * inner);
        push_.u(p.extent, inner, p.count);
        check(IndexBounds::ofAxis(p.extent), p.indicesChecked);
    }
};

class GatherNd final : public GatherBase {
  public:
    using GatherBase::GatherBase;
    void prepare() override {
        const auto& p = command_.paramsAs<GatherNdParams>();
        choose("gather_nd", static_cast<uint32_t>(p.bounds.depth), p.rows * p.slice);
        push_.u(p.slice, std::min<int64_t>(p.bounds.rowsPerBatch, UINT32_MAX), p.bounds.batchStep);
        for (const int64_t extent : p.bounds.extent) push_.u(extent);
        for (const int64_t stride : p.stride) push_.u(stride);
        check(p.bounds, p.indicesChecked);
    }
};

class GatherElements final : public GatherBase {
  public:
    using GatherBase::GatherBase;
    void prepare() override {
        const Shape &data = command_.inputs[0]->shape, &indices = command_.inputs[1]->shape;
        const auto& p = command_.paramsAs<ElementsParams>();
        const int axis = p.axis;
        const Strides strides = rowMajorStrides(data);
        const auto stride = [&](int i) { return strides[static_cast<size_t>(i)]; };
        choose("gather_elements", static_cast<uint32_t>(indices.rank()), indices.elements());
        push_.u(data[axis], stride(axis));
        for (int i = 0; i < kMaxRank; ++i) push_.u(indices.at(i));
        for (int i = 0; i < kMaxRank; ++i) push_.u(i < data.rank() && i != axis ? stride(i) : 0);
        check(IndexBounds::ofAxis(data[axis]), p.indicesChecked);
    }
};

bool supportsGather(const VulkanBackend&, const Command& command, std::string& reason) {
    if (command.inputs[0]->empty() || command.inputs[1]->empty() ||
        command.inputs[0]->type != command.outputs[0]->type || command.inputs[1]->type != DataType::Int32)
        return refuse(reason, "the Vulkan kernels gather from tensors that are not empty, by int32 indices");
    return true;
}

template <typename T>
std::unique_ptr<Execution> make(VulkanBackend& backend, const Command& command) {
    return std::make_unique<T>(backend, command);
}

}  // namespace

constexpr VulkanOp kGather[] = {
    {OpType::GatherV2, supportsGather, nullptr, make<Gather>},
    {OpType::GatherND, supportsGather, nullptr, make<GatherNd>},
    {OpType::GatherElements, supportsGather, nullptr, make<GatherElements>},
};
extern constinit const VulkanFamily gatherVulkan = kGather;

}  // namespace mnnc::vulkan
