// GatherV2, GatherND, GatherElements: copies of whole rows where there are rows; indices outside give zeros.
#include "ops/gather.h"

#include <cstring>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/coordinates.h"
#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

namespace {

__extension__ using Wide = __int128;

// Single four-byte elements are frequent (shape arithmetic), and a memcpy of unknown size is slow for them.
void copyOrZero(char* to, const char* from, size_t bytes) noexcept {
    if (!from)
        std::memset(to, 0, bytes);
    else if (bytes == 4)
        std::memcpy(to, from, 4);
    else
        std::memcpy(to, from, bytes);
}

class GatherExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void onExecute() override {
        const auto& p = params<GatherParams>();
        const auto width = static_cast<int64_t>(elementBytes(out().type));
        const int64_t row = p.inner * width;
        const auto* data = inData<char>(0);
        const auto* indices = inData<int32_t>(1);
        auto* output = outData<char>();
        for (int64_t o = 0; o < p.outer; ++o) {
            const char* slab = data + o * p.extent * row;
            for (int64_t i = 0; i < p.count; ++i, output += row) {
                const int64_t index = indices[i];
                const bool inside = index >= 0 && index < p.extent;
                copyOrZero(output, inside ? slab + index * row : nullptr, static_cast<size_t>(row));
            }
        }
    }
};

class GatherNdExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void onExecute() override {
        const auto& p = params<GatherNdParams>();
        const auto width = static_cast<int64_t>(elementBytes(out().type));
        const auto* data = inData<char>(0);
        const auto* row = inData<int32_t>(1);
        auto* output = outData<char>();
        for (int64_t r = 0; r < p.rows; ++r, row += p.depth, output += p.slice * width) {
            const int64_t start = p.checkEach ? rowStart(row, p.depth, p.extent, p.stride) : sum(p, row);
            copyOrZero(output, start < 0 ? nullptr : data + start * width,
                       static_cast<size_t>(p.slice * width));
        }
    }

  private:
    static int64_t sum(const GatherNdParams& p, const int32_t* row) noexcept {
        // Hostile indices times strides may pass 64 bits.
        Wide start = 0;
        for (int j = 0; j < p.depth; ++j) start += static_cast<Wide>(row[j]) * p.stride[j];
        return start >= 0 && start + p.slice <= p.total ? static_cast<int64_t>(start) : -1;
    }
};

class GatherElementsExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void onExecute() override {
        const size_t width = elementBytes(out().type);
        const auto* data = inData<char>(0);
        const auto* indices = inData<int32_t>(1);
        auto* output = outData<char>();
        const int64_t count = in(1).elements();
        ElementWalk walk(in(1).shape, in(0).shape, params<ElementsParams>().axis);
        const bool nothing = in(0).empty();
        for (int64_t i = 0; i < count; ++i, output += width, walk.next()) {
            const int64_t from = nothing ? -1 : walk.at(indices[i]);
            copyOrZero(output, from < 0 ? nullptr : data + from * static_cast<int64_t>(width), width);
        }
    }
};

constexpr CpuOp kGatherCpu[] = {
    {OpType::GatherV2, nullptr, makeExecution<GatherExecution>},
    {OpType::GatherND, nullptr, makeExecution<GatherNdExecution>},
    {OpType::GatherElements, nullptr, makeExecution<GatherElementsExecution>},
};

}  // namespace

CpuFamily gatherCpu() {
    return kGatherCpu;
}

}  // namespace mnnc::cpu
