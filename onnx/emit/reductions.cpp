// Reductions, and the positions of extrema.
#include <limits>

#include "helpers.h"

namespace mnnc::onnx {
namespace {

struct Over {
    std::vector<int64_t> axes;
    V fed = nullptr;  // axes that only a run knows
    bool keep = true;
    bool nothing = false;  // there are no axes, and that means a copy
};

Over readAxes(Call& c, int fedSince) {
    Over over;
    const size_t rank = c.in(0)->rank();
    over.keep = c.integer("keepdims", 1) != 0;
    const bool copiesWithoutAxes = c.integer("noop_with_empty_axes", 0) != 0;
    std::vector<int64_t> axes;
    c.refuseAttributes({"axes"}, fedSince);
    if (c.opset >= fedSince) {
        if (V given = c.maybe(1)) {
            if (given->constant)
                axes = given->array().list();
            else if (given->rank() != 1 || !given->fixed(0) || given->dims[0][0] != 0)
                over.fed = given;
        }
    } else {
        axes = c.integers("axes").value_or(std::vector<int64_t>());
    }
    // The engine reduces over all axes where a run feeds an empty list.
    if (over.fed && copiesWithoutAxes && (over.fed->rank() != 1 || !over.fed->fixed(0)))
        refuse("noop_with_empty_axes is set and the number of the axes is not known before a run");
    if (axes.empty() && !over.fed) {
        over.nothing = copiesWithoutAxes;
        over.axes = allAxes(rank);
    } else {
        over.axes = axesOf(axes, rank);
    }
    return over;
}

V reduceOver(Call& c, Reduction code, V x, const Over& over) {
    if (over.nothing) return x;
    if (!over.fed) return reduce(c, code, x, over.axes, over.keep);
    wire::ReductionParamT table;
    table.operation = code;
    table.keepDims = over.keep;
    table.dType = x->type;
    // The extents are 1 or those of x, so they stay consistent with x.
    if (over.keep)
        c.b.open({Dims(x->rank(), 1), x->dims[1]}, true);
    else if (over.fed->rank() == 1)
        c.b.openRank(x->rank() - static_cast<size_t>(over.fed->extent(0)));
    return c.b.op(OpType::Reduction, table, {x, over.fed});
}

template <Reduction code>
void emitReduce(Call& c) {
    const Over over = readAxes(c, code == Reduction::SUM ? 13 : 18);
    V x = c.in(0);
    const Elem elem = x->elem;
    if (over.nothing) {
        c.out(x);
        return;
    }
    if (x->type == DataType::DT_UINT8 || x->type == DataType::DT_INT8) x = castTo(c, x, Elem::Int32);
    V result = reduceOver(c, code, x, over);
    // Over no elements, the maximum of bools is false and the minimum is true.
    if (elem == Elem::Bool && code == Reduction::MAXIMUM) result = binary(c, Binary::MAXIMUM, result, c.b.scalar(0));
    if (elem == Elem::Bool && code == Reduction::MINIMUM) result = binary(c, Binary::MINIMUM, result, c.b.scalar(1));
    c.out(result->elem == elem || heldAs(elem) == DataType::DT_INT32 ? c.b.alias(result, elem)
                                                                     : castTo(c, result, elem));
}

V absolute(Call& c, V x) {
    return unary(c, Unary::ABS, x);
}

V square(Call& c, V x) {
    return x->isFloat() ? unary(c, Unary::SQUARE, x) : mul(c, x, x);
}

void emitReduceL2(Call& c) {
    const Over over = readAxes(c, 18);
    V x = c.in(0);
    const Elem elem = x->elem;
    V sum = reduceOver(c, Reduction::SUM, square(c, castTo(c, x, Elem::Float)), over);
    c.out(castTo(c, unary(c, Unary::SQRT, sum), elem));
}

template <V (*of)(Call&, V)>
void emitReduceSumOf(Call& c) {
    const Over over = readAxes(c, 18);
    V x = c.in(0);
    c.out(c.b.alias(reduceOver(c, Reduction::SUM, of(c, x), over), x->elem));
}

void emitReduceLogSum(Call& c) {
    const Over over = readAxes(c, 18);
    V x = c.in(0);
    const Elem elem = x->elem;
    V sum = reduceOver(c, Reduction::SUM, castTo(c, x, Elem::Float), over);
    c.out(castTo(c, unary(c, Unary::LOG, sum), elem));
}

void emitReduceLogSumExp(Call& c) {
    Over over = readAxes(c, 18);
    const Elem elem = c.in(0)->elem;
    if (over.nothing) {
        c.out(c.in(0));
        return;
    }
    V x = castTo(c, c.in(0), Elem::Float);
    Over kept = over;
    kept.keep = true;
    // The largest finite number replaces an infinite maximum to avoid NaN.
    V largest = reduceOver(c, Reduction::MAXIMUM, x, kept);
    largest = clip(c, largest, -std::numeric_limits<float>::max(), std::numeric_limits<float>::max());
    V sum = reduceOver(c, Reduction::SUM, unary(c, Unary::EXP, sub(c, x, largest)), kept);
    V result = add(c, unary(c, Unary::LOG, sum), largest);
    if (!over.keep) {
        // A sum over these axes, which have one element each, removes them.
        result = over.fed ? reduceOver(c, Reduction::SUM, result, over) : squeeze(c, result, over.axes);
    }
    c.out(castTo(c, result, elem));
}

template <OpType type>
void emitArg(Call& c) {
    V x = c.in(0);
    const int64_t axis = axisOf(c.integer("axis", 0), x->rank());
    const bool last = c.integer("select_last_index", 0) != 0;
    if (x->type == DataType::DT_UINT8 || x->type == DataType::DT_INT8) x = castTo(c, x, Elem::Int32);
    wire::ArgMaxT table;
    table.axis = static_cast<int32_t>(axis);
    V result = c.b.op(type, table, {last ? reverse(c, x, axis) : x});
    if (last) {
        V end = sub(c, extentOf(c, x, axis), c.b.scalar(1));
        result = sub(c, end, result);
    }
    if (c.integer("keepdims", 1) != 0) result = unsqueeze(c, result, {axis});
    c.out(c.b.alias(result, Elem::Int64));
}

}  // namespace

constexpr Entry kReductionsEntries[] = {
    {"ArgMax", 1, kNewest, emitArg<OpType::ArgMax>, "ArgMax, Unsqueeze; Reverse for select_last_index"},
    {"ArgMin", 1, kNewest, emitArg<OpType::ArgMin>, "ArgMin, Unsqueeze; Reverse for select_last_index"},
    {"ReduceL1", 1, kNewest, emitReduceSumOf<absolute>, "UnaryOp, Reduction"},
    {"ReduceL2", 1, kNewest, emitReduceL2, "UnaryOp, Reduction"},
    {"ReduceLogSum", 1, kNewest, emitReduceLogSum, "Reduction, UnaryOp"},
    {"ReduceLogSumExp", 1, kNewest, emitReduceLogSumExp, "Reduction, BinaryOp, UnaryOp"},
    {"ReduceMax", 1, kNewest, emitReduce<Reduction::MAXIMUM>, "Reduction"},
    {"ReduceMean", 1, kNewest, emitReduce<Reduction::MEAN>, "Reduction"},
    {"ReduceMin", 1, kNewest, emitReduce<Reduction::MINIMUM>, "Reduction"},
    {"ReduceProd", 1, kNewest, emitReduce<Reduction::PROD>, "Reduction"},
    {"ReduceSum", 1, kNewest, emitReduce<Reduction::SUM>, "Reduction"},
    {"ReduceSumSquare", 1, kNewest, emitReduceSumOf<square>, "UnaryOp, Reduction"},
};
extern constinit const Family reductionFamily = kReductionsEntries;

}  // namespace mnnc::onnx
