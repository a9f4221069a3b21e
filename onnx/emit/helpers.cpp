// See helpers.h.
#include "helpers.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace mnnc::onnx {

V binary(Call& c, Binary code, V a, V b) {
    wire::BinaryOpT table;
    table.opType = code;
    table.T = a->type;
    return c.b.op(OpType::BinaryOp, table, {a, b});
}

void requireNoWidening(const Value& operand, const Value& x) {
    bool fits = operand.rank() <= x.rank();
    for (size_t i = 0; fits && i < operand.rank(); ++i) {
        const size_t axis = x.rank() - operand.rank() + i;
        fits = !operand.fixed(i) || operand.dims[0][i] == 1 || !x.fixed(axis) || x.dims[0][axis] == operand.dims[0][i];
    }
    if (!fits)
        fail(Status::ComputeSizeError, "an operand of %s widens a tensor of %s", dimsText(operand.dims[0]).c_str(),
             dimsText(x.dims[0]).c_str());
}

V compare(Call& c, Binary code, V a, V b) {
    return c.b.alias(binary(c, code, a, b), Elem::Bool);
}

V unary(Call& c, Unary code, V x) {
    wire::UnaryOpT table;
    table.opType = code;
    table.T = x->type;
    return c.b.op(OpType::UnaryOp, table, {x});
}

V select(Call& c, V condition, V yes, V no) {
    V result = c.b.op(OpType::Select, {}, {condition, yes, no});
    return c.b.alias(result, yes->elem);
}

V castTo(Call& c, V x, Elem to) {
    const DataType type = heldAs(to);
    if (type == DataType::DT_INVALID)
        refuse("the result is of %s, for which the .mnn format has no tensor", elemName(to));
    const bool normalises = to == Elem::Bool && x->elem != Elem::Bool;
    V result = x;
    if (type != x->type || normalises) {
        wire::CastParamT table;
        table.srcT = x->type;
        table.dstT = to == Elem::Bool ? DataType::DT_BOOL : type;
        result = c.b.op(OpType::Cast, table, {x});
    }
    // Integers of 16 bits are stored in 32.
    const bool wider = x->elem != to && x->elem != Elem::Bool && x->elem != Elem::Uint8;
    if (to == Elem::Uint16 && wider) result = binary(c, Binary::BITWISE_AND, result, c.b.number(65535, *result));
    if (to == Elem::Int16 && wider && x->elem != Elem::Int8) {
        V sixteen = c.b.number(16, *result);
        result = binary(c, Binary::RIGHTSHIFT, binary(c, Binary::LEFTSHIFT, result, sixteen), sixteen);
    }
    return c.b.alias(result, to);
}

V clip(Call& c, V x, float low, float high) {
    wire::Relu6T table;
    table.minValue = low;
    table.maxValue = high;
    return c.b.op(OpType::ReLU6, table, {x});
}

V leakyRelu(Call& c, V x, float slope) {
    wire::ReluT table;
    table.slope = slope;
    return c.b.op(OpType::ReLU, table, {x});
}

// The format's own operator is not used, because the official runtime approximates it.
V geluByTanh(Call& c, V x) {
    V cube = mul(c, mul(c, x, x), x);
    V inner = add(c, x, mul(c, cube, c.b.real(0.044715f)));
    V tanh = unary(c, Unary::TANH, mul(c, inner, c.b.real(0.7978845608028654f)));
    V half = mul(c, x, c.b.real(0.5f));
    return mul(c, half, add(c, tanh, c.b.real(1)));
}

V swish(Call& c, V x, float alpha) {
    if (alpha == 1) return unary(c, Unary::SILU, x);
    return mul(c, x, unary(c, Unary::SIGMOID, mul(c, x, c.b.real(alpha))));
}

V softmax(Call& c, V x, int64_t axis) {
    wire::AxisT table;
    table.axis = static_cast<int32_t>(axis);
    return c.b.op(OpType::Softmax, table, {x});
}

V logSoftmax(Call& c, V x, int64_t axis) {
    V shifted = sub(c, x, reduce(c, Reduction::MAXIMUM, x, {axis}, true));
    V sum = reduce(c, Reduction::SUM, unary(c, Unary::EXP, shifted), {axis}, true);
    return sub(c, shifted, unary(c, Unary::LOG, sum));
}

V scalarOf(Call& c, V x) {
    if (x->rank() == 0) return x;
    if (x->rank() > 1) return squeeze(c, x, allAxes(x->rank()));
    if (!x->fixed(0)) x = sliceAxis(c, x, 0, 0, 1);
    return squeeze(c, x, {0});
}

V reshape(Call& c, V x, const std::vector<int64_t>& dims) {
    if (dims.empty()) return x->rank() == 0 ? x : squeeze(c, x, allAxes(x->rank()));
    wire::ReshapeT table;
    table.dimType = wire::MNN_DATA_FORMAT::NCHW;
    table.dims = intList(dims)->ints;
    return c.b.op(OpType::Reshape, table, {x});
}

namespace {

// Returns whether a tensor of these extents has as many elements as the shape.
bool holds(const Array& shape, const Dims& dims) {
    double wanted = 1, count = 1;
    for (int64_t i = 0; i < shape.count(); ++i) wanted *= static_cast<double>(shape.intAt(i));
    for (const int64_t extent : dims) count *= static_cast<double>(extent);
    return wanted == count;
}

}  // namespace

V reshapeTo(Call& c, V x, V dims) {
    if (dims->constant) return reshape(c, x, dims->array().list());
    // A single unknown extent follows from the others.
    const auto& [first, second] = dims->content;
    if (first && second && first->dims == second->dims) {
        std::vector<int64_t> list = first->list();
        int64_t differing = 0;
        bool plain = true;
        for (size_t i = 0; i < list.size(); ++i) {
            if (list[i] != second->intAt(static_cast<int64_t>(i)) || dims->doubted(i)) {
                list[i] = -1;
                ++differing;
            } else {
                plain = plain && list[i] > 0;
            }
        }
        // Where the numbers do not fit, the model is valid for other extents alone, and a run must compare them.
        const bool fits = holds(*first, x->dims[0]) && holds(*second, x->dims[1]);
        if (differing == 1 && plain && fits) return reshape(c, x, list);
    }
    wire::ReshapeT table;
    table.dimType = wire::MNN_DATA_FORMAT::NCHW;
    c.b.openRank(static_cast<size_t>(dims->extent(0)));
    return c.b.op(OpType::Reshape, table, {x, dims});
}

V permute(Call& c, V x, const std::vector<int64_t>& order) {
    bool same = true;
    for (size_t i = 0; i < order.size(); ++i) same = same && order[i] == static_cast<int64_t>(i);
    if (same) return x;
    wire::PermuteT table;
    table.dims = intList(order)->ints;
    return c.b.op(OpType::Permute, table, {x});
}

V squeeze(Call& c, V x, const std::vector<int64_t>& axes) {
    if (axes.empty()) return x;
    wire::SqueezeParamT table;
    table.squeezeDims = intList(axes)->ints;
    return c.b.op(OpType::Squeeze, table, {x});
}

V unsqueeze(Call& c, V x, const std::vector<int64_t>& axes) {
    if (axes.empty()) return x;
    wire::SqueezeParamT table;
    table.squeezeDims = intList(axes)->ints;
    return c.b.op(OpType::Unsqueeze, table, {x});
}

V concat(Call& c, const std::vector<V>& parts, int64_t axis) {
    if (parts.size() == 1) return parts[0];
    wire::AxisT table;
    table.axis = static_cast<int32_t>(axis);
    return c.b.op(OpType::Concat, table, parts);
}

V stridedSlice(Call& c, const std::vector<V>& inputs) {
    wire::StridedSliceParamT table;
    table.fromType = 1;
    table.T = inputs[0]->type;
    table.Index = DataType::DT_INT32;
    return c.b.op(OpType::StridedSlice, table, inputs);
}

V sliceAxis(Call& c, V x, int64_t axis, int64_t begin, int64_t end, int64_t step) {
    return stridedSlice(c, {x, c.b.ints({begin}), c.b.ints({end}), c.b.ints({axis}), c.b.ints({step})});
}

V elementOf(Call& c, V x, int64_t axis, int64_t index) {
    return squeeze(c, sliceAxis(c, x, axis, index, index + 1), {axis});
}

V gatherAxis(Call& c, V x, V indices, int64_t axis) {
    return c.b.op(OpType::GatherV2, {}, {x, indices, c.b.scalar(axis)});
}

V broadcastTo(Call& c, V x, V dims) {
    if (!dims->constant && dims->rank() == 1 && dims->fixed(0))
        c.b.open(c.b.openShape(dims, std::max(x->rank(), static_cast<size_t>(dims->extent(0)))));
    return c.b.op(OpType::BroadcastTo, {}, {x, dims});
}

V reduce(Call& c, Reduction code, V x, const std::vector<int64_t>& axes, bool keep) {
    if (axes.empty()) return x;
    wire::ReductionParamT table;
    table.operation = code;
    table.dim = intList(axes)->ints;
    table.keepDims = keep;
    table.dType = x->type;
    return c.b.op(OpType::Reduction, table, {x});
}

V padWith(Call& c, V x, const std::vector<int64_t>& before, const std::vector<int64_t>& after, double value) {
    std::vector<int64_t> pairs;
    bool none = true;
    for (size_t i = 0; i < before.size(); ++i) {
        pairs.push_back(before[i]);
        pairs.push_back(after[i]);
        none = none && before[i] == 0 && after[i] == 0;
    }
    if (none) return x;
    wire::PadParamT table;
    table.mode = wire::PadValueMode::CONSTANT;
    return c.b.op(OpType::Padding, table, {x, c.b.ints(pairs), c.b.number(value, *x)});
}

V matmul(Call& c, V a, V b, bool transposeA, bool transposeB) {
    wire::MatMulT table;
    table.T = DataType::DT_FLOAT;
    table.transposeA = transposeA;
    table.transposeB = transposeB;
    return c.b.op(OpType::MatMul, table, {a, b});
}

V reverse(Call& c, V x, int64_t axis) {
    return c.b.op(OpType::Reverse, {}, {x, c.b.ints({axis})});
}

V toPacked(Call& c, V x) {
    wire::TensorConvertInfoT table;
    table.source = wire::MNN_DATA_FORMAT::NCHW;
    table.dest = wire::MNN_DATA_FORMAT::NC4HW4;
    return c.b.op(OpType::ConvertTensor, table, {x});
}

V fromPacked(Call& c, V x) {
    wire::TensorConvertInfoT table;
    table.source = wire::MNN_DATA_FORMAT::NC4HW4;
    table.dest = wire::MNN_DATA_FORMAT::NCHW;
    return c.b.op(OpType::ConvertTensor, table, {x});
}

V shapeOf(Call& c, V x, int64_t start, int64_t end) {
    const auto rank = static_cast<int64_t>(x->rank());
    start = std::clamp<int64_t>(start, 0, rank);
    end = std::clamp(end, start, rank);
    bool allFixed = true;
    for (int64_t i = start; i < end; ++i) allFixed = allFixed && x->fixed(static_cast<size_t>(i));
    if (allFixed) return c.b.ints({x->dims[0].begin() + start, x->dims[0].begin() + end});
    wire::ShapeParamT table;
    table.hasStart = start > 0;
    table.start = static_cast<int32_t>(start);
    table.hasEnd = end < rank;
    table.end = static_cast<int32_t>(end);
    // Nothing is evaluated, because that takes the memory of x with the numbers that stand for free extents.
    const Output list{{Dims{end - start}, Dims{end - start}}, DataType::DT_INT32};
    const Parameter parameter = start > 0 || end < rank ? Parameter(table) : Parameter();
    V result = c.b.given(OpType::Shape, parameter, {x}, {list})[0];
    result->chance.clear();
    for (size_t p = 0; p < kProbes; ++p)
        result->content[p] = intList({x->dims[p].begin() + start, x->dims[p].begin() + end});
    for (int64_t i = start; i < end; ++i)
        if (const auto axis = static_cast<size_t>(i); axis < x->chance.size() && x->chance[axis]) {
            result->doubts.resize(static_cast<size_t>(end - start));
            result->doubts[static_cast<size_t>(i - start)] = true;
        }
    result->elem = Elem::Int64;
    return result;
}

V rangeTo(Call& c, V count) {
    if (!count->content[0]) c.b.open(c.b.openList(count), true);
    wire::RangeT table;
    table.Tidx = DataType::DT_INT32;
    return c.b.alias(c.b.op(OpType::Range, table, {c.b.scalar(0), count, c.b.scalar(1)}), Elem::Int64);
}

V extentOf(Call& c, V x, int64_t axis) {
    V list = shapeOf(c, x, axis, axis + 1);
    return list->constant ? c.b.scalar(list->array().intAt(0)) : squeeze(c, list, {0});
}

V byRule(Call& c, std::string_view type, const Node& attributes, std::vector<V> inputs) {
    bool named = false;
    Call inner{c.importer, c.b, attributes, kNewest, std::move(inputs), std::vector<V>(1)};
    findEntry("", type, kNewest, named)->emit(inner);
    return inner.outputs[0];
}

Attribute& addAttribute(Node& node, std::string_view name) {
    Attribute& added = node.attributes.emplace_back();
    added.name = name;
    return added;
}

V exchangeWithLast(Call& c, V x, V axis) {
    if (x->rank() == 0) fail(Status::BadFormat, "a number has no axes");
    const auto rank = static_cast<int64_t>(x->rank());
    V last = c.b.scalar(rank - 1), axes = c.b.ints(allAxes(x->rank()));
    V front = select(c, compare(c, Binary::LESS, axis, c.b.scalar(0)), add(c, axis, c.b.scalar(rank)), axis);
    V order = select(c, compare(c, Binary::EQUAL, axes, last), front, axes);
    order = select(c, compare(c, Binary::EQUAL, axes, front), last, order);
    c.b.openRank(x->rank());
    return c.b.op(OpType::Transpose, {}, {x, order});
}

int64_t axisOf(int64_t axis, size_t rank) {
    const auto r = static_cast<int64_t>(rank);
    if (axis < -r || axis >= r)
        fail(Status::BadRange, "axis %lld does not exist in a tensor of rank %zu", asLong(axis), rank);
    return axis < 0 ? axis + r : axis;
}

std::vector<int64_t> axesOf(std::vector<int64_t> axes, size_t rank) {
    for (int64_t& axis : axes) axis = axisOf(axis, rank);
    std::sort(axes.begin(), axes.end());
    if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) fail(Status::BadRange, "an axis is listed twice");
    return axes;
}

std::vector<int64_t> allAxes(size_t rank, size_t from) {
    std::vector<int64_t> axes;
    for (size_t i = from; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
    return axes;
}

}  // namespace mnnc::onnx
