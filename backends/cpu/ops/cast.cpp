// Cast between element types. Conversions of floats outside the integer range give what x86 gives (the
// smallest int32), everywhere.
#include "ops/cast.h"

#include <cstring>
#include <limits>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "base/half.h"

namespace mnnc::cpu {

namespace {

struct BFloat {
    uint16_t bits;
};

int32_t truncate(float value) {
    return value >= -2147483648.0f && value < 2147483648.0f ? static_cast<int32_t>(value)
                                                            : std::numeric_limits<int32_t>::min();
}

// Narrow integers take the low bits of the int32.
template <typename To, typename From>
To convert(From value) {
    if constexpr (std::is_same_v<From, BFloat>)
        return bfloat16ToFloat(value.bits);
    else if constexpr (std::is_same_v<From, float> && !std::is_same_v<To, float>)
        return static_cast<To>(truncate(value));
    else
        return static_cast<To>(value);
}

template <typename From, typename To>
void castLoop(const void* from, void* to, int64_t count) {
    const auto* source = static_cast<const From*>(from);
    auto* target = static_cast<To*>(to);
    for (int64_t i = 0; i < count; ++i) target[i] = convert<To>(source[i]);
}

void boolLoop(const void* from, void* to, int64_t count) {
    const auto* source = static_cast<const uint32_t*>(from);
    auto* target = static_cast<int32_t*>(to);
    for (int64_t i = 0; i < count; ++i) target[i] = source[i] != 0;
}

template <size_t Bytes>
void copyLoop(const void* from, void* to, int64_t count) {
    std::memcpy(to, from, static_cast<size_t>(count) * Bytes);
}

using Loop = void (*)(const void*, void*, int64_t);

Loop pickLoop(DataType from, DataType to, bool toBool) {
    using enum DataType;
    if (toBool && elementBytes(from) == 4) return boolLoop;
    if (from == to)
        return elementBytes(from) == 4 ? copyLoop<4> : elementBytes(from) == 2 ? copyLoop<2> : copyLoop<1>;
    switch (to) {
        case Float32:
            if (from == Int32) return castLoop<int32_t, float>;
            if (from == UInt8) return castLoop<uint8_t, float>;
            if (from == Int8) return castLoop<int8_t, float>;
            if (from == BFloat16) return castLoop<BFloat, float>;
            return nullptr;
        case Int32:
            if (from == Float32) return castLoop<float, int32_t>;
            if (from == UInt8) return castLoop<uint8_t, int32_t>;
            if (from == Int8) return castLoop<int8_t, int32_t>;
            return nullptr;
        case Int8:
            if (from == Float32) return castLoop<float, int8_t>;
            if (from == Int32) return castLoop<int32_t, int8_t>;
            return nullptr;
        case UInt8:
            if (from == Float32) return castLoop<float, uint8_t>;
            if (from == Int32) return castLoop<int32_t, uint8_t>;
            if (from == Int8) return castLoop<int8_t, uint8_t>;
            return nullptr;
        default:
            return nullptr;
    }
}

class CastExecution final : public CommandExecution {
  public:
    CastExecution(const Command& command, Loop loop) : CommandExecution(command), loop_(loop) {}
    void onResize() override { count_ = out().elements(); }
    void onExecute() override { loop_(in(0).data, out().data, count_); }

  private:
    Loop loop_;
    int64_t count_ = 0;
};

std::unique_ptr<Execution> createCast(CpuBackend&, const Command& command, std::string& reason) {
    const DataType from = command.inputs[0]->type, to = command.outputs[0]->type;
    const auto* params = command.paramsIf<CastParams>();
    const Loop loop = pickLoop(from, to, params && params->toBool);
    if (!loop) {
        reason = format("op '%s': no cast from %s to %s", command.name.c_str(), dataTypeName(from),
                        dataTypeName(to));
        return nullptr;
    }
    return std::make_unique<CastExecution>(command, loop);
}

constexpr CpuOp kCastCpu[] = {{OpType::Cast, nullptr, createCast}};

}  // namespace

CpuFamily castCpu() {
    return kCastCpu;
}

}  // namespace mnnc::cpu
