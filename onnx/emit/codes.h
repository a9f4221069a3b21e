// Codes of 8 bits. Where a model quantises values and dequantises the codes again, the net has the values, and records
// the steps by which they may be kept as codes: the engine then computes with codes where it can. Operators produce the
// codes themselves only where another operator needs them.
#pragma once
#include <optional>

#include "../weight_codes.h"
#include "helpers.h"

namespace mnnc::onnx {

// Codes that an operator produces: the value itself, or the quantised form of the values that it represents.
V madeCodes(Call& c, V value);

// round(x / scale) + zero, clamped to the codes of the type. zero: null, or of any type.
V quantise(Call& c, V x, V scale, V zero, Elem to);
V dequantise(Call& c, V x, V scale, V zero);
// A scale or a zero point, broadcast to x: one for all, one for each position of an axis, or one for each block of an
// axis.
V spread(Call& c, V value, const Value& x, int64_t axis, int64_t block);

// The steps of a constant scale and zero point with one number each; empty for others. zero: null is 0.
std::optional<Steps> stepsOf(V scale, V zero, Elem elem);
// Values that are clamped to the range of the steps, and may be kept as codes. readElsewhere: x has a consumer that
// needs the unclamped values.
V withSteps(Call& c, V x, const Steps& steps, bool readElsewhere);
// Codes of x, with the scale and zero point of a QuantizeLinear: values with steps where possible.
V quantised(Call& c, V x, V scale, V zero, Elem to, bool readElsewhere);
// The values of codes, with a scale and a zero point of one number, or of one for each row of axis 0 or column of axis
// 1.
V realOf(Call& c, V codes, V scale, V zero, int64_t axis);

// The codes of constant weights as rows, one for each position of `axis`, which is the first or the last one; empty
// where they do not have 8 bits or their scales belong to another axis.
std::optional<WeightCodes> rowCodes(const Value& weight, size_t axis);

// Returns the inputs for a node that only moves elements: codes become values, and its outputs become codes again.
// Empty where the node does something else.
std::optional<std::vector<V>> movedCodes(const Node& node, const std::vector<V>& inputs);

}  // namespace mnnc::onnx
