// The operators of the .mnn format: numbers, names and arities. operators.def is their list.
#pragma once
#include <cstdint>

namespace mnnc {

enum class OpType : int32_t {
#define OPERATOR(name, number, ...) name = number,
#include "base/operators.def"
#undef OPERATOR
    // A group of commands that a backend computes at once (backend/fusion.h). Files with this number are refused.
    Fused = 0x10000,
};

// The minimum and maximum numbers of inputs and outputs of an operator. A maximum of kAnyCount allows any number.
struct OpArity {
    uint8_t minInputs, maxInputs;
    uint8_t minOutputs, maxOutputs;

    static constexpr uint8_t kAnyCount = 255;
    bool takes(uint64_t inputs) const noexcept {
        return inputs >= minInputs && (maxInputs == kAnyCount || inputs <= maxInputs);
    }
    bool makes(uint64_t outputs) const noexcept {
        return outputs >= minOutputs && (maxOutputs == kAnyCount || outputs <= maxOutputs);
    }
};

// The operator's name in the schema, or nullptr when the number is unknown.
const char* opTypeName(OpType type) noexcept;

// The operator's arity, or nullptr when the number is unknown.
const OpArity* opArity(OpType type) noexcept;

}  // namespace mnnc
