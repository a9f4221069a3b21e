// Helpers for the families of tensor operators: bit sets of inputs, resolved-axis parameters, small checks.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/error.h"
#include "ops/op_def.h"

namespace mnnc {

// The only parameter of many operators. `given`: the file has a table for it.
struct AxisParams : ParamsOf<AxisParams> {
    int64_t axis = 0;
    bool given = false;
};

inline std::shared_ptr<AxisParams> axisParams(int64_t axis) {
    auto params = std::make_shared<AxisParams>();
    params->axis = axis;
    params->given = true;
    return params;
}

inline bool hasInput(const Node& node, size_t i) {
    return node.inputs.size() > i;
}

// OpDef::valueInputs of operators that read the content of one input, if the operator has this input.
inline uint32_t contentOfInput1(const Node& node) {
    return hasInput(node, 1) ? 2u : 0u;
}
inline uint32_t contentOfInput2(const Node& node) {
    return hasInput(node, 2) ? 4u : 0u;
}
inline uint32_t contentOfInput0(const Node&) {
    return 1u;
}

// The geometry of Reshape, Squeeze, Identity and others that keep the order of the data.
inline void copyGeometry(const OpContext& context) {
    context.geometry.copyLinear(context.outputs[0], context.inputs[0], context.node.name);
}

// Returns the shape with extents from a tensor or a parameter; refuses negative ones and products that do not fit.
// `refused`: the status of the refusal, which is BadParameter for a file that is being loaded.
inline Shape checkedShape(const std::vector<int64_t>& extents, const char* name,
                          Status refused = Status::ComputeSizeError) {
    if (extents.size() > static_cast<size_t>(kMaxRank))
        fail(refused, "op '%s': %zu extents are given; the limit is %d", name, extents.size(), kMaxRank);
    for (const int64_t extent : extents)
        if (extent < 0) fail(refused, "op '%s': extent %lld is negative", name, asLong(extent));
    Shape shape{std::span<const int64_t>(extents)};
    shape.elements();
    return shape;
}

// Requires a parameter of the file to lie in [low, high].
inline void requireRange(int value, int low, int high, const char* what, const char* name) {
    if (value < low || value > high)
        fail(Status::BadParameter, "%s: %s is %d, allowed are %d to %d", name, what, value, low, high);
}

// Requires an extent or a pad to fit an int, which executions use for it; returns it.
inline int64_t requireInt(int64_t value, const char* what, const char* name) {
    constexpr int64_t kLimit = std::numeric_limits<int>::max();
    if (value < -kLimit || value > kLimit)
        fail(Status::Overflow, "%s: the %s %lld does not fit 32 bits", name, what, asLong(value));
    return value;
}

inline void requireInt32(const ShapeContext& context, int input) {
    if (context.in(input).type != DataType::Int32)
        fail(Status::BadType, "op '%s': input %d must be int32, it is %s", context.name(), input,
             dataTypeName(context.in(input).type));
}

// The limit of an extent in which positions are float32: they represent every integer up to here.
constexpr int64_t kMaxSampledExtent = 1 << 24;

// Refuses to move elements between tensors of different element widths.
inline void requireSameWidth(const ShapeContext& context, int a, int b) {
    if (elementBytes(context.in(a).type) != elementBytes(context.in(b).type))
        fail(Status::BadType, "op '%s': input %d is %s and input %d is %s, elements of one size are needed",
             context.name(), a, dataTypeName(context.in(a).type), b, dataTypeName(context.in(b).type));
}

}  // namespace mnnc
