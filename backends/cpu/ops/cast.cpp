// Cast between element types. Floats outside the integer range become the smallest int32, as on x86, on every machine.
#include "ops/cast.h"

#include <limits>
#include <type_traits>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/split.h"
#include "base/half.h"
#include "tensor/element_types.h"

namespace mnnc::cpu {

namespace {

struct BFloat {
    uint16_t bits;
};

int32_t truncate(float value) {
    return value >= -2147483648.0f && value < 2147483648.0f ? static_cast<int32_t>(value)
                                                            : std::numeric_limits<int32_t>::min();
}

template <typename From>
auto read(From value) {
    if constexpr (std::is_same_v<From, BFloat>)
        return bfloat16ToFloat(value.bits);
    else
        return value;
}

// Narrow integers take the low bits of the int32.
template <typename To, typename From>
To convert(From stored) {
    const auto value = read(stored);
    if constexpr (std::is_same_v<To, BFloat>)
        return {floatToBfloat16(static_cast<float>(value))};
    else if constexpr (std::is_same_v<decltype(read(stored)), float> && !std::is_same_v<To, float>)
        return static_cast<To>(truncate(value));
    else
        return static_cast<To>(value);
}

template <typename From, typename To>
void castLoop(const void* from, void* to, int64_t begin, int64_t end) {
    const auto* source = static_cast<const From*>(from);
    auto* target = static_cast<To*>(to);
    for (int64_t i = begin; i < end; ++i) target[i] = convert<To>(source[i]);
}

template <typename From>
void boolLoop(const void* from, void* to, int64_t begin, int64_t end) {
    const auto* source = static_cast<const From*>(from);
    auto* target = static_cast<int32_t*>(to);
    for (int64_t i = begin; i < end; ++i) target[i] = read(source[i]) != 0;
}

void halfLoop(const void* from, void* to, int64_t begin, int64_t end) {
    const auto* source = static_cast<const float*>(from);
    auto* target = static_cast<float*>(to);
    for (int64_t i = begin; i < end; ++i) target[i] = halfToFloat(floatToHalf(source[i]));
}

using Loop = void (*)(const void*, void*, int64_t, int64_t);

template <typename From>
Loop loopFrom(DataType to, bool toBool) {
    if (toBool) return boolLoop<From>;
    if (to == DataType::BFloat16) return castLoop<From, BFloat>;
    return withNumber(to, []<typename To>(To) -> Loop { return castLoop<From, To>; });
}

Loop pickLoop(DataType from, DataType to, bool toBool, bool toHalf) {
    if (toHalf) return from == DataType::Float32 && to == from ? halfLoop : nullptr;
    if (toBool && to != DataType::Int32) return nullptr;
    if (from == DataType::BFloat16) return loopFrom<BFloat>(to, toBool);
    return withNumber(from, [&]<typename From>(From) { return loopFrom<From>(to, toBool); });
}

class CastExecution final : public CommandExecution {
  public:
    CastExecution(const Command& command, Loop loop) : CommandExecution(command), loop_(loop) {}
    void run(const Frame& frame) const override {
        const void* from = inData<void>(frame, 0);
        void* to = outData<void>(frame);
        forElements(frame.pool(), out().elements(), [&](int64_t begin, int64_t end) { loop_(from, to, begin, end); });
    }

  private:
    const Loop loop_;
};

std::unique_ptr<Execution> createCast(CpuBackend&, const Command& command, std::string& reason) {
    const DataType from = command.inputs[0]->type, to = command.outputs[0]->type;
    const auto* params = command.paramsIf<CastParams>();
    const Loop loop = pickLoop(from, to, params && params->toBool, params && params->toHalf);
    if (!loop)
        return refuse(reason, format("a cast from %s to %s is not implemented", dataTypeName(from), dataTypeName(to)));
    return std::make_unique<CastExecution>(command, loop);
}

}  // namespace

constexpr CpuOp kCastCpu[] = {{OpType::Cast, nullptr, createCast}};
extern constinit const CpuFamily castCpu = kCastCpu;

}  // namespace mnnc::cpu
