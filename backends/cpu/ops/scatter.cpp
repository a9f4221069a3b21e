// ScatterNd and ScatterElements. The output starts as the data; updates follow in index order, so later ones
// win, and the first index outside ends the run.
#include "ops/scatter.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/coordinates.h"
#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

namespace {

// Unsigned arithmetic for integers: overflow wraps.
template <typename T>
void combine(T* to, const T* from, int64_t count, int reduction) noexcept {
    for (int64_t i = 0; i < count; ++i) {
        if (reduction == 0)
            to[i] = to[i] + from[i];
        else if (reduction == 1)
            to[i] = to[i] - from[i];
        else
            to[i] = to[i] * from[i];
    }
}

class ScatterBase : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;

  protected:
    void start(const Tensor* data) const noexcept {
        const auto bytes = static_cast<size_t>(out().elements()) * elementBytes(out().type);
        if (!data)
            std::memset(out().data, 0, bytes);
        else if (data->data != out().data)
            std::memcpy(out().data, data->data, bytes);
    }
    // Elements `to`.. of the output get (or are combined with) elements `from`.. of the updates. Codes beyond
    // multiplication write nothing, as in the reference.
    void apply(const Tensor& updates, int64_t from, int64_t to, int64_t count, int reduction) const noexcept {
        const auto width = static_cast<int64_t>(elementBytes(out().type));
        if (reduction < 0)
            std::memcpy(outData<char>() + to * width, updates.as<const char>() + from * width,
                        static_cast<size_t>(count * width));
        else if (reduction > 2)
            return;
        else if (out().type == DataType::Float32)
            combine(outData<float>() + to, updates.as<const float>() + from, count, reduction);
        else
            combine(outData<uint32_t>() + to, updates.as<const uint32_t>() + from, count, reduction);
    }
};

class ScatterNdExecution final : public ScatterBase {
  public:
    using ScatterBase::ScatterBase;
    void onExecute() override {
        const auto& p = params<ScatterNdParams>();
        start(command().inputs.size() > 2 ? command().inputs[2] : nullptr);
        const auto* row = inData<int32_t>(0);
        for (int64_t r = 0; r < p.rows; ++r, row += p.bounds.depth) {
            const int64_t to = rowStart(command().name, p.bounds, p.stride, row, r);
            apply(in(1), r * p.slice, to, p.slice, p.reduction);
        }
    }
};

class ScatterElementsExecution final : public ScatterBase {
  public:
    using ScatterBase::ScatterBase;
    void onExecute() override {
        const auto& p = params<ElementsParams>();
        start(&in(0));
        const auto* indices = inData<int32_t>(1);
        const int64_t count = in(1).elements();
        const int64_t extent = out().shape[p.axis];
        ElementWalk walk(in(1).shape, out().shape, p.axis);
        for (int64_t i = 0; i < count; ++i, walk.next()) {
            const int64_t place = placeOnAxis(command().name, indices[i], i, extent);
            apply(in(2), i, walk.at(place), 1, p.reduction);
        }
    }
};

constexpr CpuOp kScatterCpu[] = {
    {OpType::ScatterNd, nullptr, makeExecution<ScatterNdExecution>},
    {OpType::ScatterElements, nullptr, makeExecution<ScatterElementsExecution>},
};

}  // namespace

CpuFamily scatterCpu() {
    return kScatterCpu;
}

}  // namespace mnnc::cpu
