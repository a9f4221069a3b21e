// Operators of the format that many rules add.
#pragma once
#include <optional>
#include <vector>

#include "../call.h"

namespace mnnc::onnx {

using Reduction = wire::ReductionType;

V binary(Call& c, Binary code, V a, V b);
inline V add(Call& c, V a, V b) {
    return binary(c, Binary::ADD, a, b);
}
inline V sub(Call& c, V a, V b) {
    return binary(c, Binary::SUB, a, b);
}
inline V mul(Call& c, V a, V b) {
    return binary(c, Binary::MUL, a, b);
}
inline V div(Call& c, V a, V b) {
    return binary(c, Binary::REALDIV, a, b);
}
// Throws ComputeSizeError where an operator of both, element by element, would give x more elements. Axes whose extents
// are free are not compared.
void requireNoWidening(const Value& operand, const Value& x);
V compare(Call& c, Binary code, V a, V b);  // the result is a bool
V unary(Call& c, Unary code, V x);
V select(Call& c, V condition, V yes, V no);
V castTo(Call& c, V x, Elem to);
V clip(Call& c, V x, float low, float high);  // floats only
V leakyRelu(Call& c, V x, float slope);
V geluByTanh(Call& c, V x);          // x * (1 + tanh(...)) / 2 (Hendrycks and Gimpel, arXiv 1606.08415)
V swish(Call& c, V x, float alpha);  // x * sigmoid(alpha * x)
V softmax(Call& c, V x, int64_t axis);
V logSoftmax(Call& c, V x, int64_t axis);
V scalarOf(Call& c, V x);  // the first element of a list, or a scalar itself

V reshape(Call& c, V x, const std::vector<int64_t>& dims);
V reshapeTo(Call& c, V x, V dims);  // dims: a list of integers
V permute(Call& c, V x, const std::vector<int64_t>& order);
V squeeze(Call& c, V x, const std::vector<int64_t>& axes);
V unsqueeze(Call& c, V x, const std::vector<int64_t>& axes);
V concat(Call& c, const std::vector<V>& parts, int64_t axis);
// From `begin` (in [0, extent]) to `end`; kToEnd: to the end.
constexpr int64_t kToEnd = int64_t{1} << 30;
// The maximum of taps of windows that take an operator for each.
constexpr int64_t kMaxTaps = 4096;
V sliceAxis(Call& c, V x, int64_t axis, int64_t begin, int64_t end, int64_t step = 1);
// inputs: x, begins, ends, axes and, if wanted, steps.
V stridedSlice(Call& c, const std::vector<V>& inputs);
// The elements with this index in an axis, without the axis.
V elementOf(Call& c, V x, int64_t axis, int64_t index);
V gatherAxis(Call& c, V x, V indices, int64_t axis);
V broadcastTo(Call& c, V x, V dims);
V reduce(Call& c, Reduction code, V x, const std::vector<int64_t>& axes, bool keep);
V padWith(Call& c, V x, const std::vector<int64_t>& before, const std::vector<int64_t>& after, double value);
V matmul(Call& c, V a, V b, bool transposeA = false, bool transposeB = false);
V reverse(Call& c, V x, int64_t axis);
V toPacked(Call& c, V x);    // NC4HW4, for operators that the official runtime runs in no other layout
V fromPacked(Call& c, V x);  // back to NCHW

// The extents of a tensor as a list of integers, and one of them as a scalar.
V shapeOf(Call& c, V x, int64_t start = 0, int64_t end = kToEnd);
V extentOf(Call& c, V x, int64_t axis);
V rangeTo(Call& c, V count);  // 0, 1, ... as integers; count: a scalar

// The first output of an operator of ONNX with these inputs and the attributes of a node, by its newest rule.
V byRule(Call& c, std::string_view type, const Node& attributes, std::vector<V> inputs);
Attribute& addAttribute(Node& node, std::string_view name);

template <Unary code>
void emitUnary(Call& c) {
    c.out(unary(c, code, c.in(0)));
}

// Exchanges an axis that only a run knows with the last one; a second call reverses it.
V exchangeWithLast(Call& c, V x, V axis);

// An axis attribute, counted from the front. Throws BadRange.
int64_t axisOf(int64_t axis, size_t rank);
std::vector<int64_t> axesOf(std::vector<int64_t> axes, size_t rank);
std::vector<int64_t> allAxes(size_t rank, size_t from = 0);

}  // namespace mnnc::onnx
