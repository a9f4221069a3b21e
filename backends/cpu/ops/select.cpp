// Select, Where, Unique, SetDiff1D, UnravelIndex (which refuses indices outside of its shape). Where and similar
// operators write at most as many elements as their output holds, in case their input changed since shapes were
// computed, and fill the rest with zeros.
#include <algorithm>
#include <cstring>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "base/error.h"
#include "ops/select.h"
#include "tensor/element_types.h"

namespace mnnc::cpu {

namespace {

template <typename C, typename T>
void selectLoop(const C* condition, int64_t stepC, const T* a, int64_t stepA, const T* b, int64_t stepB, T* output,
                int64_t count) noexcept {
    for (int64_t i = 0; i < count; ++i) output[i] = condition[i * stepC] != 0 ? a[i * stepA] : b[i * stepB];
}

class SelectExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void run(const Frame& frame) const override {
        // The condition is compared as bits: -0.0 is true.
        withBits(in(0).type, [&]<typename C>(C) { withBits(out().type, [&]<typename T>(T) { loop<C, T>(frame); }); });
    }

  private:
    template <typename C, typename T>
    void loop(const Frame& frame) const noexcept {
        const auto step = [this](size_t i) { return int64_t{in(i).elements() != 1}; };
        selectLoop(inData<C>(frame, 0), step(0), inData<T>(frame, 1), step(1), inData<T>(frame, 2), step(2),
                   outData<T>(frame), out().elements());
    }
};

class WhereExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void run(const Frame& frame) const override {
        if (in(0).type == DataType::Float32)
            write(frame, inData<float>(frame, 0));
        else if (in(0).type == DataType::Int32)
            write(frame, inData<int32_t>(frame, 0));
        else
            write(frame, inData<uint8_t>(frame, 0));
    }

  private:
    template <typename T>
    void write(const Frame& frame, const T* values) const noexcept {
        const Shape& shape = in(0).shape;
        const int64_t count = in(0).elements(), rows = out().shape[0];
        auto* row = outData<int32_t>(frame);
        auto* const end = row + rows * shape.rank();
        int32_t coordinate[kMaxRank] = {};
        for (int64_t i = 0; i < count && row < end; ++i) {
            if (values[i] != T(0)) row = std::copy(coordinate, coordinate + shape.rank(), row);
            for (int axis = shape.rank() - 1; axis >= 0 && ++coordinate[axis] >= shape[axis]; --axis)
                coordinate[axis] = 0;
        }
        std::fill(row, end, 0);
    }
};

class UniqueExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void prepare() override {
        count_ = in(0).elements();
        requestScratch(count_ * 4);
    }
    void run(const Frame& frame) const override {
        const auto* values = inData<int32_t>(frame, 0);
        auto* sorted = static_cast<int32_t*>(frame.scratch());
        const bool floats = in(0).type == DataType::Float32;
        const auto keyOf = [floats](int32_t bits) { return floats ? floatKey(bits) : bits; };
        std::transform(values, values + count_, sorted, keyOf);
        std::sort(sorted, sorted + count_);
        const int64_t found = std::unique(sorted, sorted + count_) - sorted;
        const int64_t unique = std::min(found, out().shape[0]);
        std::transform(sorted, sorted + unique, outData<int32_t>(frame),
                       [floats](int32_t key) { return floats ? floatOfKey(key) : key; });
        std::fill(outData<int32_t>(frame) + unique, outData<int32_t>(frame) + out().shape[0], 0);
        const size_t outputs = command().outputs.size();
        if (outputs < 2) return;
        int32_t* first = outputs > 2 ? outData<int32_t>(frame, 1) : nullptr;
        int32_t* inverse = outData<int32_t>(frame, outputs > 2 ? 2 : 1);
        int32_t* counts = outputs > 3 ? outData<int32_t>(frame, 3) : nullptr;
        if (first) std::fill(first, first + out().shape[0], -1);
        if (counts) std::fill(counts, counts + out().shape[0], 0);
        for (int64_t i = 0; i < count_; ++i) {
            const int64_t at = std::lower_bound(sorted, sorted + unique, keyOf(values[i])) - sorted;
            inverse[i] = static_cast<int32_t>(at);
            if (at >= unique) continue;
            if (first && first[at] < 0) first[at] = static_cast<int32_t>(i);
            if (counts) ++counts[at];
        }
    }

  private:
    int64_t count_ = 0;
};

class SetDiffExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void prepare() override {
        removed_ = in(1).elements();
        requestScratch(removed_ * 4);
    }
    void run(const Frame& frame) const override {
        auto* remove = static_cast<int32_t*>(frame.scratch());
        if (removed_ > 0) std::copy(inData<int32_t>(frame, 1), inData<int32_t>(frame, 1) + removed_, remove);
        std::sort(remove, remove + removed_);
        auto* output = outData<int32_t>(frame);
        auto* const end = output + out().shape[0];
        const int64_t count = in(0).elements();
        for (int64_t i = 0; i < count && output < end; ++i) {
            const int32_t value = inData<int32_t>(frame, 0)[i];
            if (!std::binary_search(remove, remove + removed_, value)) *output++ = value;
        }
        std::fill(output, end, 0);
    }

  private:
    int64_t removed_ = 0;
};

class UnravelExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void run(const Frame& frame) const override {
        const int64_t count = in(0).elements(), depth = in(1).elements();
        const auto* dims = inData<int32_t>(frame, 1);
        auto* output = outData<int32_t>(frame);
        for (int64_t i = 0; i < count; ++i) {
            const int64_t index = inData<int32_t>(frame, 0)[i];
            int64_t rest = index;
            for (int64_t j = depth - 1; j >= 0; --j) {
                if (dims[j] < 1)
                    fail(Status::InputDataError, "op '%s': extent %lld of the shape is %d", command().name.c_str(),
                         asLong(j), dims[j]);
                output[j * count + i] = static_cast<int32_t>(rest % dims[j]);
                rest /= dims[j];
            }
            // Here no index counts from the end.
            if (index < 0 || rest > 0)
                fail(Status::InputDataError,
                     "op '%s': index %lld (element %lld of the indices) is outside of the shape",
                     command().name.c_str(), asLong(index), asLong(i));
        }
    }
};

}  // namespace

constexpr CpuOp kSelectCpu[] = {
    {OpType::Select, nullptr, makeExecution<SelectExecution>},
    {OpType::Where, nullptr, makeExecution<WhereExecution>},
    {OpType::Unique, nullptr, makeExecution<UniqueExecution>},
    {OpType::SetDiff1D, nullptr, makeExecution<SetDiffExecution>},
    {OpType::UnravelIndex, nullptr, makeExecution<UnravelExecution>},
};
extern constinit const CpuFamily selectCpu = kSelectCpu;

}  // namespace mnnc::cpu
