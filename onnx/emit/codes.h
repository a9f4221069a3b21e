// Codes of 8 bits. Where a model quantises values and takes codes back to values, the net has the values, and says by
// which steps they may be kept as codes: the engine then computes with codes where it can. Codes themselves are made
// where something else asks for them.
#pragma once
#include <optional>

#include "../weight_codes.h"
#include "helpers.h"

namespace mnnc::onnx {

// Codes that an operator makes: the value itself, or what quantises the values that it stands for.
V madeCodes(Call& c, V value);

// round(x / scale) + zero, cut to the codes of the type. zero: null, or of any type.
V quantise(Call& c, V x, V scale, V zero, Elem to);
V dequantise(Call& c, V x, V scale, V zero);
// A scale or a zero point, as it spreads over x: one for all, one for each position of an axis, or one for each block
// of an axis.
V spread(Call& c, V value, const Value& x, int64_t axis, int64_t block);

// The steps of a constant scale and zero point, of one number each; nothing for others. zero: null is 0.
std::optional<Steps> stepsOf(V scale, V zero, Elem elem);
// Values that are cut to what the steps can hold, and kept by them. readElsewhere: something reads x that does not want
// that.
V withSteps(Call& c, V x, const Steps& steps, bool readElsewhere);
// Codes of x, with a scale and a zero point as QuantizeLinear has them: values with steps where they can be.
V quantised(Call& c, V x, V scale, V zero, Elem to, bool readElsewhere);
// The values of codes, with a scale and a zero point of one number, or of one for each row of axis 0 or column of axis
// 1.
V realOf(Call& c, V codes, V scale, V zero, int64_t axis);

// The codes of constant weights as rows, one for each position of `axis`, which is the first or the last one; nothing
// where they are not of 8 bits or their scales go along another axis.
std::optional<WeightCodes> rowCodes(const Value& weight, size_t axis);

// A node that only moves elements: its inputs become values where they are codes, its outputs codes again. Null: it is
// none.
std::optional<std::vector<V>> movedCodes(const Node& node, const std::vector<V>& inputs);

}  // namespace mnnc::onnx
