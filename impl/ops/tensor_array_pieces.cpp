// TensorArrayGather, TensorArrayScatter, TensorArraySplit and TensorArrayConcat: copy many elements between a sequence
// and one tensor.
#include <algorithm>

#include "ops/families.h"
#include "ops/tensor_array_parts.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

// The limit on the steps of one operator that searches for elements among the runs of a sequence.
constexpr int64_t kMaxSearches = 100000000;

void limitSearches(const ShapeContext& context, size_t elements, const TensorList& list) {
    if (static_cast<int64_t>(elements) > kMaxSearches / std::max<int64_t>(1, static_cast<int64_t>(list.runs().size())))
        fail(Status::LimitExceeded, "op '%s': looking up %zu elements in a sequence of %zu shapes takes too long",
             context.name(), elements, list.runs().size());
}

void shapeArrayGather(const ShapeContext& context) {
    const TensorList& list = listOf(context);
    const Tensor& flow = context.in(flowInput(context));
    const std::vector<int64_t> indices = context.ints(1);
    limitSearches(context, indices.size(), list);
    Shape shape = tensorArrayParams(context).element.value_or(Shape{});
    if (indices.empty() && !tensorArrayParams(context).element)
        shape = list.runs().empty() ? Shape() : list.at(0).shape;
    for (size_t i = 0; i < indices.size(); ++i) {
        const int64_t index = elementIndex(context, indices[i], list.size(), false);
        const Shape& element = knownElement(context, list, index).shape;
        if (i > 0 && !(element == shape))
            fail(Status::ComputeSizeError, "op '%s': elements of %s and %s cannot be stacked", context.name(),
                 shape.text().c_str(), element.text().c_str());
        shape = element;
    }
    shape.insert(0, static_cast<int64_t>(indices.size()));
    context.set(0, shape, flow.type, flow.format);
}

void geometryArrayGather(const OpContext& context) {
    const TensorList& list = listOf(context);
    Parts parts(context);
    for (const int64_t given : context.ints(1)) {
        const int64_t index = elementIndex(context, given, list.size(), false);
        parts.copy(flowInput(context), list.offset(index), list.at(index).elementSize());
    }
    parts.emit();
}

// Returns pairs of an element and the row with its value, in the order of the elements. The last of several rows wins.
std::vector<std::pair<int64_t, int64_t>> scatteredRows(const ShapeContext& context) {
    const TensorList& list = listOf(context);
    std::vector<std::pair<int64_t, int64_t>> rows;
    const std::vector<int64_t> indices = context.ints(1);
    limitSearches(context, indices.size(), list);
    rows.reserve(indices.size());
    for (const int64_t index : indices)
        rows.emplace_back(writeIndex(context, list, index), static_cast<int64_t>(rows.size()));
    std::sort(rows.begin(), rows.end());
    size_t kept = 0;
    for (size_t i = 0; i < rows.size(); ++i)
        if (i + 1 == rows.size() || rows[i + 1].first != rows[i].first) rows[kept++] = rows[i];
    rows.resize(kept);
    return rows;
}

void shapeArrayScatter(const ShapeContext& context) {
    const TensorList& list = listOf(context);
    const Tensor& value = context.in(2);
    const auto rows = scatteredRows(context);
    if (value.shape.rank() < 1 || value.shape[0] != context.in(1).elements())
        fail(Status::ComputeSizeError, "op '%s': a value of %s does not fit %lld elements", context.name(),
             value.shape.text().c_str(), asLong(context.in(1).elements()));
    if (rows.empty()) return setSequence(context, list, context.in(flowInput(context)));
    Shape element = value.shape;
    element.erase(0);
    const int64_t size = list.size();
    if (!list.anyKnown())
        return setSequence(context, TensorList(std::max(size, rows.back().first + 1), true, element), value);
    TensorList result;
    int64_t next = 0;
    for (const auto& [index, row] : rows) {
        result.appendAll(list.part(next, index));
        result.append({index - std::max(next, size), false, {}});
        result.append({1, true, element});
        next = index + 1;
    }
    result.appendAll(list.part(next, size));
    setSequence(context, std::move(result), value);
}

void geometryArrayScatter(const OpContext& context) {
    const TensorList &list = listOf(context), &result = *context.out(0).list;
    const auto rows = scatteredRows(context);
    const int64_t size = list.size();
    const int64_t element = rows.empty() ? 0 : result.at(rows[0].first).elementSize();
    const bool known = list.anyKnown();
    Parts parts(context);
    int64_t next = 0;
    for (const auto& [index, row] : rows) {
        if (known)
            copyElements(parts, context, list, std::min(next, size), std::min(index, size));
        else
            parts.skip((index - next) * element);
        parts.copy(2, row * element, element);
        next = index + 1;
    }
    copyElements(parts, context, list, std::min(next, size), size);
    parts.emit();
}

// The pieces into which Split cuts the value: how many pieces of which length along the axis.
struct Pieces {
    int axis = 0;
    bool dropsAxis = false;
    std::vector<std::pair<int64_t, int64_t>> runs;  // {pieces, length}
};

Pieces piecesOf(const ShapeContext& context) {
    const auto& params = tensorArrayParams(context);
    const Shape& shape = context.in(1).shape;
    Pieces pieces;
    pieces.axis = normalizeAxis(params.axis, shape.rank(), context.name());
    const int64_t extent = shape[pieces.axis];
    const std::vector<int64_t> lengths = context.ints(2);
    if (lengths.size() == 1) {
        const int64_t length = lengths[0];
        if (length < 1 && extent > 0)
            fail(Status::InputDataError, "op '%s': pieces cannot have the length %lld", context.name(), asLong(length));
        // Among the forms of lengths, only pieces of 1 drop the axis (ONNX: SplitToSequence without lengths).
        pieces.dropsAxis = !params.keepDims && length == 1;
        if (extent == 0) return pieces;
        pieces.runs.emplace_back(extent / length, length);
        if (extent % length != 0) pieces.runs.emplace_back(1, extent % length);
        return pieces;
    }
    int64_t sum = 0;
    for (const int64_t length : lengths) {
        if (length < 0)
            fail(Status::InputDataError, "op '%s': a piece cannot have the length %lld", context.name(),
                 asLong(length));
        sum = checkedAdd(sum, length, context.name());
        if (!pieces.runs.empty() && pieces.runs.back().second == length)
            ++pieces.runs.back().first;
        else
            pieces.runs.emplace_back(1, length);
    }
    if (sum != extent)
        fail(Status::InputDataError, "op '%s': the lengths of pieces add up to %lld, the axis has %lld", context.name(),
             asLong(sum), asLong(extent));
    return pieces;
}

void shapeArraySplit(const ShapeContext& context) {
    const Tensor& value = context.in(1);
    const Pieces pieces = piecesOf(context);
    TensorList list;
    for (const auto& [count, length] : pieces.runs) {
        Shape element = value.shape;
        element[pieces.axis] = length;
        if (pieces.dropsAxis) element.erase(pieces.axis);
        list.append({count, true, element});
    }
    // The former elements of the sequence are replaced, so their type has no effect.
    list.dynamic = listOf(context).dynamic;
    const int64_t total = list.total();
    context.set(0, Shape{total}, value.type, value.format);
    context.out(0).list = std::make_shared<const TensorList>(std::move(list));
}

void geometryArraySplit(const OpContext& context) {
    const Pieces pieces = piecesOf(context);
    const AxisSplit split(context.in(1).shape, pieces.axis);
    RegionBuilder builder(context.name());
    int64_t from = 0, to = 0;
    for (const auto& [count, length] : pieces.runs) {
        const int64_t row = length * split.inner;
        const BoxAxis axes[] = {
            {count, row, split.outer * row}, {split.outer, split.axis * split.inner, row}, {row, 1, 1}};
        builder.box(0, from, to, axes);
        from += count * row;
        to += count * split.outer * row;
    }
    context.geometry.raster(context.outputs[0], {context.inputs[1]}, builder.take(), context.node.name);
}

// Returns the position of the axis along which elements are joined: one of theirs, or a new one.
int joinedAxis(const ShapeContext& context, const Shape& element) {
    const auto& params = tensorArrayParams(context);
    return normalizeAxis(params.axis, element.rank() + (params.newAxis ? 1 : 0), context.name());
}

void shapeArrayConcat(const ShapeContext& context) {
    const TensorList& list = listOf(context);
    const Tensor& flow = context.in(flowInput(context));
    if (list.runs().empty()) return context.set(0, Shape{0}, flow.type, flow.format);
    Shape shape = knownElement(context, list, 0).shape;
    const int axis = joinedAxis(context, shape);
    const bool newAxis = tensorArrayParams(context).newAxis;
    int64_t extent = 0;
    for (const TensorList::Run& run : list.runs()) {
        Shape alike = shape;
        if (!newAxis && run.known && run.shape.rank() == shape.rank()) alike[axis] = run.shape[axis];
        if (!run.known || !(run.shape == alike))
            fail(Status::ComputeSizeError, "op '%s': elements of %s and %s cannot be joined at axis %d", context.name(),
                 shape.text().c_str(), run.known ? run.shape.text().c_str() : "unknown shape", axis);
        const int64_t length = newAxis ? run.count : checkedMul(run.count, run.shape[axis], context.name());
        extent = checkedAdd(extent, length, context.name());
    }
    if (newAxis)
        shape.insert(axis, extent);
    else
        shape[axis] = extent;
    context.set(0, shape, flow.type, flow.format);
}

void geometryArrayConcat(const OpContext& context) {
    const TensorList& list = listOf(context);
    const Shape& shape = context.out(0).shape;
    const bool newAxis = tensorArrayParams(context).newAxis;
    const int axis = joinedAxis(context, list.at(0).shape);
    const AxisSplit split(shape, axis);
    RegionBuilder builder(context.name());
    int64_t from = 0, to = 0;
    for (const TensorList::Run& run : list.runs()) {
        const int64_t row = (newAxis ? 1 : run.shape[axis]) * split.inner;
        const BoxAxis axes[] = {
            {run.count, split.outer * row, row}, {split.outer, row, split.axis * split.inner}, {row, 1, 1}};
        builder.box(0, from, to, axes);
        from += run.count * split.outer * row;
        to += run.count * row;
    }
    context.geometry.raster(context.outputs[0], {context.inputs.back()}, builder.take(), context.node.name);
}

}  // namespace

constexpr OpDef kTensorPieceOps[] = {
    {.type = OpType::TensorArrayGather,
     .parse = parseTensorArray,
     .shape = shapeArrayGather,
     .geometry = geometryArrayGather,
     .valueInputs = contentOfInput1,
     .shapeOnlyInputs = handleInput},
    {.type = OpType::TensorArrayScatter,
     .parse = parseTensorArray,
     .shape = shapeArrayScatter,
     .geometry = geometryArrayScatter,
     .valueInputs = contentOfInput1,
     .shapeOnlyInputs = handleInput},
    {.type = OpType::TensorArraySplit,
     .parse = parseTensorArray,
     .shape = shapeArraySplit,
     .geometry = geometryArraySplit,
     .valueInputs = contentOfInput2,
     .shapeOnlyInputs = handleInput},
    {.type = OpType::TensorArrayConcat,
     .parse = parseTensorArray,
     .shape = shapeArrayConcat,
     .geometry = geometryArrayConcat,
     .shapeOnlyInputs = handleInput},
};
extern constinit const OpFamily tensorPieceOps = kTensorPieceOps;

}  // namespace mnnc
