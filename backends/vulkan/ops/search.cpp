// ArgMax, ArgMin and TopKV2 on the device, row-major; float32 and int32.
#include "ops/search.h"

#include <algorithm>
#include <bit>

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/ops/rows.h"

namespace mnnc::vulkan {

namespace {

constexpr int64_t kCandidateBytes = 32;  // per invocation: values and positions

class Arg final : public VulkanExecution {
  public:
    Arg(VulkanBackend& backend, const Command& command) : VulkanExecution(backend), command_(command) {}

    static Rows rowsOf(const VulkanBackend& backend, const Command& command) {
        const auto& params = command.paramsAs<SearchParams>();
        return {backend, params.outer, params.extent, params.inner, kCandidateBytes};
    }

    void prepare() override {
        const auto& params = command_.paramsAs<SearchParams>();
        rows_ = rowsOf(backend(), command_);
        std::vector<uint32_t> constants = rows_.constants();
        constants.push_back(params.largest);
        pipeline_ =
            &backend().pipeline("search_arg", command_.inputs[0]->type, 2, rows_.localSize, std::move(constants));
    }

    void encode(FrameRecorder& recorder) const override {
        recorder.dispatch(*pipeline_, {{recorder.reads(*command_.inputs[0]), recorder.writes(*command_.outputs[0])}},
                          rows_.push(), rows_.groups(*pipeline_));
    }

  private:
    const Command command_;
    Rows rows_;
    const Pipeline* pipeline_ = nullptr;
};

bool supportsArg(const VulkanBackend& backend, const Command& command, std::string& reason) {
    if (command.outputs[0]->type != DataType::Int32)
        return refuse(reason, "the Vulkan kernel makes no lists of the largest values");
    return noEmptyInput(command, reason) && fewRounds(backend, Arg::rowsOf(backend, command).rounds(1), reason);
}

std::unique_ptr<Execution> createArg(VulkanBackend& backend, const Command& command) {
    return std::make_unique<Arg>(backend, command);
}

// Returns the elements of the list that a work group sorts in shared memory: all of a short row, or the best ones.
int64_t listCapacity(const Command& command) {
    constexpr int64_t kShortRow = 1024;
    const auto& p = command.paramsAs<SearchParams>();
    const int64_t count = command.outputs[0]->elements() / (p.outer * p.inner);
    const auto length = static_cast<uint64_t>(p.extent <= kShortRow ? p.extent : count);
    return static_cast<int64_t>(std::bit_ceil(std::max<uint64_t>(length, 2)));
}

// Returns the shared memory that search_top.comp declares.
int64_t listBytes(int64_t capacity) {
    return capacity * 8 + 256 * 4 + 3 * 4;
}

uint32_t topLocal(const VulkanBackend& backend, const SearchParams& p) {
    return std::min<uint32_t>(p.extent <= 64 ? 64 : 256, backend.limits().groupInvocations);
}

class TopK final : public VulkanExecution {
  public:
    TopK(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend), command_(command), params_(command_.paramsAs<SearchParams>()) {}

    void prepare() override {
        const auto capacity = static_cast<uint32_t>(listCapacity(command_));
        pipeline_ = &backend().pipeline("search_top", *command_.inputs[0], 3, topLocal(backend(), params_),
                                        {capacity, params_.largest});
    }

    void encode(FrameRecorder& recorder) const override {
        const int64_t rows = params_.outer * params_.inner;
        recorder.dispatch(*pipeline_,
                          {{recorder.reads(*command_.inputs[0]), recorder.writes(*command_.outputs[0]),
                            recorder.writes(*command_.outputs[1])}},
                          Push().u(params_.extent, params_.inner, command_.outputs[0]->elements() / rows), rows);
    }

  private:
    const Command command_;
    const SearchParams& params_;
    const Pipeline* pipeline_ = nullptr;
};

bool supportsTopK(const VulkanBackend& backend, const Command& command, std::string& reason) {
    if (!noEmptyInput(command, reason)) return false;
    if (command.outputs[0]->empty() || command.outputs[0]->type != command.inputs[0]->type)
        return refuse(reason, "the Vulkan kernel makes lists of at least one element, of the input's type");
    if (listBytes(listCapacity(command)) > backend.limits().sharedMemory)
        return refuse(reason, "the list exceeds what the Vulkan kernel sorts in shared memory");
    // Up to eight passes over a row select the end of the list, each among 256 counts; a ninth collects the list.
    const auto& p = command.paramsAs<SearchParams>();
    return fewRounds(backend, 10 * ceilDiv(p.extent, int64_t{topLocal(backend, p)}) + 8 * 300, reason);
}

std::unique_ptr<Execution> createTopK(VulkanBackend& backend, const Command& command) {
    return std::make_unique<TopK>(backend, command);
}

}  // namespace

constexpr VulkanOp kSearch[] = {
    {OpType::ArgMax, supportsArg, nullptr, createArg},
    {OpType::ArgMin, supportsArg, nullptr, createArg},
    {OpType::TopKV2, supportsTopK, nullptr, createTopK},
};
extern constinit const VulkanFamily searchVulkan = kSearch;

}  // namespace mnnc::vulkan
