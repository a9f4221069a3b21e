// Select, Where, Unique, SetDiff1D, UnravelIndex. The number of results of Where and similar operators depends on their
// values, so their shape rules count; the executions write the values.
#include <algorithm>

#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "ops/select.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

void shapeSelect(const ShapeContext& context) {
    requireSameWidth(context, 1, 2);
    Shape shape = broadcastShapes(context.in(0).shape, context.in(1).shape, context.name());
    shape = broadcastShapes(shape, context.in(2).shape, context.name());
    shape.elements();
    context.set(0, shape, context.in(1).type, context.in(1).format);
}

// The command takes operands of one element or of the output's size; regions broadcast other sizes first.
void geometrySelect(const OpContext& context) {
    const Shape& out = context.out(0).shape;
    const Strides dst = rowMajorStrides(out);
    ValueCommand command = context.command();
    for (size_t operand = 0; operand < 3; ++operand) {
        Tensor* input = context.inputs[operand];
        const int64_t count = input->elements();
        if (count == 1 || count == out.elements()) continue;
        const Strides src = rowMajorStrides(input->shape);
        const int missing = out.rank() - input->shape.rank();
        std::vector<BoxAxis> axes;
        for (int i = 0; i < out.rank(); ++i) {
            const bool repeated = i < missing || input->shape[i - missing] == 1;
            axes.push_back({out[i], repeated ? 0 : src[static_cast<size_t>(i - missing)], dst[static_cast<size_t>(i)]});
        }
        RegionBuilder builder(context.name());
        builder.box(0, 0, 0, axes);
        Tensor* broadcast = context.geometry.temporary(out, input->type, context.out(0).format);
        context.geometry.raster(broadcast, {input}, builder.take(), context.node.name);
        command.inputs[operand] = broadcast;
    }
    context.geometry.emit(std::move(command));
}

struct WhereParams : ParamsOf<WhereParams> {
    bool exact = false;  // as many rows as hits; in old files as many as elements
};

ParamsPtr parseWhere(const wire::Op& op, const ParseContext&) {
    auto params = std::make_shared<WhereParams>();
    params->exact = op.main_as_Extra() != nullptr;
    return params;
}

template <typename T>
int64_t countNonZero(const T* values, int64_t count) {
    return std::count_if(values, values + count, [](T value) { return value != T(0); });
}

void shapeWhere(const ShapeContext& context) {
    const Tensor& input = context.in(0);
    const int64_t count = input.elements();
    int64_t rows = count;
    if (input.type != DataType::Float32 && input.type != DataType::Int32 && input.type != DataType::UInt8)
        fail(Status::BadType, "op '%s': Where of %s is not possible", context.name(), dataTypeName(input.type));
    if (context.node.paramsAs<WhereParams>().exact && count > 0) {
        if (!input.hasConstantValue)
            fail(Status::ComputeSizeError, "op '%s': the values of its input are not known when shapes are computed",
                 context.name());
        if (input.type == DataType::Float32)
            rows = countNonZero(input.known<float>(), count);
        else if (input.type == DataType::Int32)
            rows = countNonZero(input.known<int32_t>(), count);
        else
            rows = countNonZero(input.known<uint8_t>(), count);
    }
    context.set(0, Shape{rows, input.shape.rank()}, DataType::Int32, input.format);
}

uint32_t contentWhere(const Node& node) {
    return node.paramsAs<WhereParams>().exact ? 1u : 0u;
}

// The elements as integers in the same order.
std::vector<int32_t> keysOf(const ShapeContext& context, int i) {
    const Tensor& input = context.in(i);
    if (elementBytes(input.type) != 4)
        fail(Status::NotSupported, "op '%s': input %d is %s; four-byte elements are needed", context.name(), i,
             dataTypeName(input.type));
    const int64_t count = input.elements();
    if (count > 0 && !input.hasConstantValue)
        fail(Status::ComputeSizeError, "op '%s': the values of input %d are not known when shapes are computed",
             context.name(), i);
    const auto* data = input.known<int32_t>();
    std::vector<int32_t> keys(data, data + count);
    if (input.type == DataType::Float32)
        for (int32_t& key : keys) key = floatKey(key);
    return keys;
}

void shapeUnique(const ShapeContext& context) {
    std::vector<int32_t> values = keysOf(context, 0);
    const auto count = static_cast<int64_t>(values.size());
    std::sort(values.begin(), values.end());
    const int64_t unique = std::unique(values.begin(), values.end()) - values.begin();
    const Tensor& input = context.in(0);
    const size_t outputs = context.outputs.size();
    context.set(0, Shape{unique}, input.type, input.format);
    // Two outputs: values and inverse. Three or four: values, first positions, inverse, counts.
    if (outputs == 2) context.set(1, Shape{count}, DataType::Int32, input.format);
    if (outputs > 2) {
        context.set(1, Shape{unique}, DataType::Int32, input.format);
        context.set(2, Shape{count}, DataType::Int32, input.format);
    }
    if (outputs > 3) context.set(3, Shape{unique}, DataType::Int32, input.format);
}

void shapeSetDiff(const ShapeContext& context) {
    requireInt32(context, 0);
    requireInt32(context, 1);
    const std::vector<int32_t> values = keysOf(context, 0);
    std::vector<int32_t> remove = keysOf(context, 1);
    std::sort(remove.begin(), remove.end());
    const int64_t kept = std::count_if(values.begin(), values.end(), [&](int32_t value) {
        return !std::binary_search(remove.begin(), remove.end(), value);
    });
    context.set(0, Shape{kept}, DataType::Int32, context.in(0).format);
}

void shapeUnravel(const ShapeContext& context) {
    requireInt32(context, 0);
    requireInt32(context, 1);
    Shape shape{context.in(1).elements()};
    if (context.in(0).shape.rank() > 0) shape.push(context.in(0).elements());
    shape.elements();
    context.set(0, shape, DataType::Int32, Format::NCHW);
}

}  // namespace

constexpr OpDef kSelectOps[] = {
    {.type = OpType::Select, .shape = shapeSelect, .geometry = geometrySelect},
    {.type = OpType::Where, .parse = parseWhere, .shape = shapeWhere, .valueInputs = contentWhere},
    {.type = OpType::Unique, .shape = shapeUnique, .valueInputs = contentOfInput0},
    {.type = OpType::SetDiff1D, .shape = shapeSetDiff, .valueInputs = [](const Node&) { return 3u; }},
    {.type = OpType::UnravelIndex, .shape = shapeUnravel},
};
extern constinit const OpFamily selectOps = kSelectOps;

}  // namespace mnnc
