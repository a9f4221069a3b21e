// GatherV2, GatherND, GatherElements: copies of whole rows where possible. Every index is checked where it is used, in
// the order of the index tensor: the first one outside ends the run.
#include "ops/gather.h"

#include <cstring>
#include <type_traits>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/coordinates.h"
#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

namespace {

// Single four-byte elements are frequent (shape arithmetic), and a memcpy of unknown size is slow for them.
void copyBytes(char* to, const char* from, size_t bytes) noexcept {
    if (bytes == 4)
        std::memcpy(to, from, 4);
    else
        std::memcpy(to, from, bytes);
}

class GatherExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void run(const Frame& frame) const override {
        const auto width = static_cast<int64_t>(elementBytes(out().type));
        const int64_t row = params<GatherParams>().inner * width;
        if (row == 4)
            copyRows(frame, std::integral_constant<int64_t, 4>());
        else
            copyRows(frame, row);
    }

  private:
    template <typename Bytes>
    void copyRows(const Frame& frame, Bytes row) const {
        const auto& p = params<GatherParams>();
        const auto* data = inData<char>(frame, 0);
        const auto* indices = inData<int32_t>(frame, 1);
        auto* output = outData<char>(frame);
        for (int64_t o = 0; o < p.outer; ++o, data += p.extent * row)
            for (int64_t i = 0; i < p.count; ++i, output += row) {
                const int64_t place = placeOnAxis(command().name, indices[i], i, p.extent);
                std::memcpy(output, data + place * row, static_cast<size_t>(row));
            }
    }
};

class GatherNdExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void run(const Frame& frame) const override {
        const auto& p = params<GatherNdParams>();
        const auto width = static_cast<int64_t>(elementBytes(out().type));
        const auto* data = inData<char>(frame, 0);
        const auto* row = inData<int32_t>(frame, 1);
        auto* output = outData<char>(frame);
        for (int64_t r = 0; r < p.rows; ++r, row += p.bounds.depth, output += p.slice * width) {
            const int64_t start = rowStart(command().name, p.bounds, p.stride, row, r);
            copyBytes(output, data + start * width, static_cast<size_t>(p.slice * width));
        }
    }
};

class GatherElementsExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void run(const Frame& frame) const override {
        const size_t width = elementBytes(out().type);
        const auto* data = inData<char>(frame, 0);
        const auto* indices = inData<int32_t>(frame, 1);
        auto* output = outData<char>(frame);
        const int64_t count = in(1).elements();
        const int axis = params<ElementsParams>().axis;
        const int64_t extent = in(0).shape[axis];
        ElementIterator element(in(1).shape, in(0).shape, axis);
        for (int64_t i = 0; i < count; ++i, output += width, element.next()) {
            const int64_t place = placeOnAxis(command().name, indices[i], i, extent);
            copyBytes(output, data + element.at(place) * static_cast<int64_t>(width), width);
        }
    }
};

}  // namespace

constexpr CpuOp kGatherCpu[] = {
    {OpType::GatherV2, nullptr, makeExecution<GatherExecution>},
    {OpType::GatherND, nullptr, makeExecution<GatherNdExecution>},
    {OpType::GatherElements, nullptr, makeExecution<GatherElementsExecution>},
};
extern constinit const CpuFamily gatherCpu = kGatherCpu;

}  // namespace mnnc::cpu
