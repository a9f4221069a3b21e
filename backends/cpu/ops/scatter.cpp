// ScatterNd and ScatterElements. The output starts as the data; updates are applied in index order, so later ones win,
// and the first index outside ends the run.
#include "ops/scatter.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/coordinates.h"
#include "backends/cpu/ops/families.h"
#include "tensor/element_types.h"

namespace mnnc::cpu {

namespace {

// Integers wrap. A NaN remains, as in NumPy's maximum and minimum.
template <typename T>
T combined(T a, T b, Scatter reduction) noexcept {
    using Sum = std::conditional_t<std::is_integral_v<T>, uint32_t, T>;
    switch (reduction) {
        case Scatter::Add:
            return static_cast<T>(static_cast<Sum>(a) + static_cast<Sum>(b));
        case Scatter::Sub:
            return static_cast<T>(static_cast<Sum>(a) - static_cast<Sum>(b));
        case Scatter::Mul:
            return static_cast<T>(static_cast<Sum>(a) * static_cast<Sum>(b));
        case Scatter::Min:
            return b < a || b != b ? b : a;
        case Scatter::Max:
            return b > a || b != b ? b : a;
        default:
            return b;
    }
}

template <typename T>
void combine(const Frame& frame, const Operand& out, int64_t to, const Operand& updates, int64_t from, int64_t count,
             Scatter reduction) noexcept {
    T* y = frame.data<T>(out) + to;
    const T* x = frame.data<const T>(updates) + from;
    for (int64_t i = 0; i < count; ++i) y[i] = combined(y[i], x[i], reduction);
}

class ScatterBase : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;

  protected:
    void start(const Frame& frame, const Operand* data) const noexcept {
        const auto bytes = static_cast<size_t>(out().elements()) * elementBytes(out().type);
        if (bytes == 0) return;  // there may be no memory
        if (!data)
            std::memset(outData<void>(frame), 0, bytes);
        else if (const void* from = frame.data<const void>(*data); from != outData<void>(frame))
            std::memcpy(outData<void>(frame), from, bytes);
    }
    // Stores (or combines) elements of the updates from `from` on into the output from `to` on.
    void apply(const Frame& frame, const Operand& updates, int64_t from, int64_t to, int64_t count,
               Scatter reduction) const noexcept {
        const auto width = static_cast<int64_t>(elementBytes(out().type));
        if (reduction == Scatter::Replace) {
            std::memcpy(outData<char>(frame) + to * width, frame.data<const char>(updates) + from * width,
                        static_cast<size_t>(count * width));
            return;
        }
        withNumber(out().type, [&]<typename T>(T) { combine<T>(frame, out(), to, updates, from, count, reduction); });
    }
};

class ScatterNdExecution final : public ScatterBase {
  public:
    using ScatterBase::ScatterBase;
    void run(const Frame& frame) const override {
        const auto& p = params<ScatterNdParams>();
        start(frame, command().inputs.size() > 2 ? command().inputs[2] : nullptr);
        const auto* row = inData<int32_t>(frame, 0);
        for (int64_t r = 0; r < p.rows; ++r, row += p.bounds.depth) {
            const int64_t to = rowStart(command().name, p.bounds, p.stride, row, r);
            apply(frame, in(1), r * p.slice, to, p.slice, p.reduction);
        }
    }
};

class ScatterElementsExecution final : public ScatterBase {
  public:
    using ScatterBase::ScatterBase;
    void run(const Frame& frame) const override {
        const auto& p = params<ScatterElementsParams>();
        start(frame, &in(0));
        const auto* indices = inData<int32_t>(frame, 1);
        const int64_t count = in(1).elements();
        const int64_t extent = out().shape[p.axis];
        ElementIterator element(in(1).shape, out().shape, p.axis);
        for (int64_t i = 0; i < count; ++i, element.next()) {
            const int64_t place = placeOnAxis(command().name, indices[i], i, extent);
            apply(frame, in(2), i, element.at(place), 1, p.reduction);
        }
    }
};

}  // namespace

constexpr CpuOp kScatterCpu[] = {
    {OpType::ScatterNd, nullptr, makeExecution<ScatterNdExecution>},
    {OpType::ScatterElements, nullptr, makeExecution<ScatterElementsExecution>},
};
extern constinit const CpuFamily scatterCpu = kScatterCpu;

}  // namespace mnnc::cpu
