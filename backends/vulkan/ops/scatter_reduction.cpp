// ScatterNd and ScatterElements that combine updates with the present value. The rows of updates are sorted by their
// places and, for the same place, by their order, so that one invocation combines those of a place one after another:
// sums of floats equal the CPU's, however many invocations run at once.
#include <algorithm>
#include <bit>

#include "backends/vulkan/ops/index_check.h"
#include "backends/vulkan/ops/scatter_plan.h"

namespace mnnc::vulkan {

namespace {

constexpr uint32_t kSortLocal = 256;
constexpr int64_t kSortedEntries = 1024;  // entries that a group sorts in 8 KiB of shared memory
constexpr int64_t kEntryBytes = 8;        // place and row

int64_t capacityFor(int64_t rows) {
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(rows, 2))));
}

class ScatterReduction final : public VulkanExecution {
  public:
    ScatterReduction(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend),
          command_(command),
          plan_(command_),
          output_(*command_.outputs[0]),
          capacity_(capacityFor(plan_.rows)),
          block_(std::min(capacity_, kSortedEntries)) {}

    void prepare() override {
        const bool data = plan_.data != nullptr;
        keys_ = &backend().exactPipeline("scatter_keys_i32", 2, kLocal, plan_.placeConstants());
        sort_ = &backend().exactPipeline("scatter_sort_i32", 1, kSortLocal, {static_cast<uint32_t>(block_)});
        swap_ = &backend().exactPipeline("scatter_swap_i32", 1, kSortLocal);
        start_ = &backend().pipeline("scatter_start", output_, 2, kLocal, {data});
        combine_ =
            &backend().pipeline("scatter_combine", output_, 4, kLocal, {data, static_cast<uint32_t>(plan_.reduction)});
        check_.plan(backend(), plan_.bounds, plan_.indices->elements());
        requestScratch(listBytes());
    }

    void encode(FrameRecorder& recorder) const override {
        const Binding indices = recorder.reads(*plan_.indices), updates = recorder.reads(*plan_.updates);
        const Binding data = plan_.data ? recorder.reads(*plan_.data) : updates;
        const int64_t elements = output_.elements();
        recorder.dispatch(*start_, {{data, recorder.writes(output_)}}, Push().u(elements),
                          ceilDiv(elements, start_->localSize));
        recorder.dispatch(*keys_, {{indices, list(recorder, true)}}, plan_.placePush().u(capacity_),
                          ceilDiv(capacity_, keys_->localSize));
        encodeSort(recorder);
        recorder.dispatch(*combine_, {{list(recorder, false), updates, data, recorder.writes(output_)}},
                          Push().u(plan_.rows, plan_.slice, elements / plan_.slice),
                          ceilDiv(plan_.rows * plan_.slice, combine_->localSize));
        check_.encode(recorder, indices, recorder.writesReport());
    }

    int64_t reportBytes() const override { return check_.reportBytes(); }
    void afterRun(const uint32_t* report) const override { check_.read(command_.name, report); }

  private:
    int64_t listBytes() const { return roundUp(capacity_ * kEntryBytes, 16); }
    Binding list(const FrameRecorder& recorder, bool write) const { return recorder.scratch(0, listBytes(), write); }

    // Records a bitonic sort (Batcher, "Sorting networks and their applications", 1968): first blocks, then runs of
    // twice the length until one is left.
    void encodeSort(FrameRecorder& recorder) const {
        const int64_t blocks = capacity_ / block_;
        recorder.dispatch(*sort_, {{list(recorder, true)}}, Push().u(2, block_), blocks);
        for (int64_t size = 2 * block_; size <= capacity_; size *= 2) {
            for (int64_t distance = size / 2; distance >= block_; distance /= 2)
                recorder.dispatch(*swap_, {{list(recorder, true)}}, Push().u(capacity_ / 2, size, distance),
                                  ceilDiv(capacity_ / 2, swap_->localSize));
            recorder.dispatch(*sort_, {{list(recorder, true)}}, Push().u(size, size), blocks);
        }
    }

    const Command command_;
    const ScatterPlan plan_;
    const Operand& output_;
    const int64_t capacity_, block_;
    IndexCheck check_;
    const Pipeline *keys_ = nullptr, *sort_ = nullptr, *swap_ = nullptr;
    const Pipeline *start_ = nullptr, *combine_ = nullptr;
};

}  // namespace

int64_t scatterListBytes(const ScatterPlan& plan) {
    return roundUp(checkedMul(capacityFor(plan.rows), kEntryBytes, "rows of updates"), 16);
}

std::unique_ptr<Execution> makeScatterReduction(VulkanBackend& backend, const Command& command) {
    return std::make_unique<ScatterReduction>(backend, command);
}

}  // namespace mnnc::vulkan
