// A tensor with memory of its own, for values that pass between a control node and its subgraphs.
#pragma once
#include "session/budgeted_buffer.h"
#include "session/graph_tensors.h"
#include "tensor/host_copy.h"
#include "tensor/operand.h"

namespace mnnc {

inline Format rowMajor(const Operand& tensor) {
    return tensor.format == Format::NHWC ? Format::NHWC : Format::NCHW;
}

// Copies shape, type, format and content of `from` into `to`, whose row-major memory is `memory`.
inline void assignValue(Operand& to, BudgetedBuffer& memory, const Located& from) {
    to.shape = from.tensor.shape;
    to.type = from.tensor.type;
    to.format = from.tensor.format;
    to.list = from.tensor.list;
    copyToHost(from.tensor, from.data, memory.reserve(to.storageBytes(), "a value of a branch or loop"),
               rowMajor(from.tensor));
}

// Returns whether a condition holds: its first element is above 0. Converters also write float conditions.
inline bool conditionHolds(const Located& condition, const char* name) {
    const auto& [tensor, data] = condition;
    if ((tensor.type != DataType::Int32 && tensor.type != DataType::Float32) || tensor.empty() || !data)
        fail(Status::BadType, "op '%s': its condition must be an int32 or float32 element, it is %s of shape %s", name,
             dataTypeName(tensor.type), tensor.shape.text().c_str());
    return tensor.type == DataType::Int32 ? *static_cast<const int32_t*>(data) > 0
                                          : *static_cast<const float*>(data) > 0;
}

// Returns whether a condition has its value before a run, and the same one in all runs of this plan.
inline bool conditionKnown(const Operand& tensor) {
    return tensor.hasConstantValue && !tensor.empty() &&
           (tensor.type == DataType::Int32 || tensor.type == DataType::Float32);
}

struct Value {
    explicit Value(SessionContext& context) : memory(context) {}
    Operand tensor;
    BudgetedBuffer memory;
    void assign(const Located& from) { assignValue(tensor, memory, from); }
    Located located() { return {tensor, memory.data()}; }
};

}  // namespace mnnc
