// The TensorArray operators of TensorFlow, which are the sequence operators of ONNX, too. A sequence is a tensor of
// rank 1 with the elements one after another; the tensor carries their shapes (tensor/tensor_list.h). The last input
// ("flow") is the sequence, the first one ("handle") only orders operators in TensorFlow. All of them move data.
#include <algorithm>

#include "ops/families.h"
#include "ops/tensor_array_parts.h"

namespace mnnc {

namespace {

void shapeTensorArray(const ShapeContext& context) {
    const auto& params = tensorArrayParams(context);
    const int64_t size = context.intAt(0);
    if (size < 0) fail(Status::BadRange, "op '%s': a sequence cannot have %lld elements", context.name(), asLong(size));
    if (context.outputs.size() != 2)
        fail(Status::ComputeSizeError, "op '%s': TensorArray has %zu outputs, not 2", context.name(),
             context.outputs.size());
    TensorList list(size, params.element.has_value(), params.element.value_or(Shape()));
    list.dynamic = params.dynamic;
    const int64_t total = list.total();
    context.set(0, Shape{0}, params.type, context.node.defaultFormat);
    context.set(1, Shape{total}, params.type, context.node.defaultFormat);
    context.out(1).list = std::make_shared<const TensorList>(std::move(list));
}

void geometryTensorArray(const OpContext& context) {
    if (!context.out(1).empty()) context.geometry.raster(context.outputs[1], {}, {}, context.node.name);
}

void shapeArraySize(const ShapeContext& context) {
    listOf(context);
    context.set(0, Shape(), DataType::Int32, Format::NCHW);
}

void geometryArraySize(const OpContext& context) {
    const int64_t size = listOf(context).size();
    if (size > INT32_MAX)
        fail(Status::Overflow, "op '%s': a sequence cannot have %lld elements", context.name(), asLong(size));
    const auto value = static_cast<int32_t>(size);
    context.geometry.constant(context.outputs[0], &value);
}

void shapeArrayRead(const ShapeContext& context) {
    const TensorList& list = listOf(context);
    const Tensor& flow = context.in(flowInput(context));
    const int64_t index = elementIndex(context, context.intAt(1), list.size(), false);
    context.set(0, knownElement(context, list, index).shape, flow.type, flow.format);
}

void geometryArrayRead(const OpContext& context) {
    const TensorList& list = listOf(context);
    Parts parts(context);
    parts.copy(flowInput(context), list.offset(elementIndex(context, context.intAt(1), list.size(), false)),
               context.out(0).elements());
    parts.emit();
}

void shapeArrayWrite(const ShapeContext& context) {
    const TensorList& list = listOf(context);
    const int64_t index = writeIndex(context, list, context.intAt(1));
    setSequence(context, writtenList(list, index, context.in(2).shape), context.in(2));
}

void geometryArrayWrite(const OpContext& context) {
    const TensorList &list = listOf(context), &result = *context.out(0).list;
    const int64_t index = context.intAt(1), size = list.size(), value = context.in(2).elements();
    Parts parts(context);
    if (list.anyKnown())
        copyElements(parts, context, list, 0, std::min(index, size));
    else
        parts.skip(result.offset(index));
    parts.copy(2, 0, value);
    copyElements(parts, context, list, std::min(index + 1, size), size);
    parts.emit();
}

void shapeArrayInsert(const ShapeContext& context) {
    const TensorList& list = listOf(context);
    const int64_t size = list.size(), index = elementIndex(context, context.intAt(1), size, true);
    TensorList result = list.part(0, index);
    result.append({1, true, context.in(2).shape});
    result.appendAll(list.part(index, size));
    setSequence(context, std::move(result), context.in(2));
}

void geometryArrayInsert(const OpContext& context) {
    const TensorList& list = listOf(context);
    const int64_t size = list.size(), index = elementIndex(context, context.intAt(1), size, true);
    Parts parts(context);
    copyElements(parts, context, list, 0, index);
    parts.copy(2, 0, context.in(2).elements());
    copyElements(parts, context, list, index, size);
    parts.emit();
}

void shapeArrayErase(const ShapeContext& context) {
    const TensorList& list = listOf(context);
    const int64_t size = list.size(), index = elementIndex(context, context.intAt(1), size, false);
    TensorList result = list.part(0, index);
    result.appendAll(list.part(index + 1, size));
    setSequence(context, std::move(result), context.in(flowInput(context)));
}

void geometryArrayErase(const OpContext& context) {
    const TensorList& list = listOf(context);
    const int64_t size = list.size(), index = elementIndex(context, context.intAt(1), size, false);
    Parts parts(context);
    copyElements(parts, context, list, 0, index);
    copyElements(parts, context, list, index + 1, size);
    parts.emit();
}

uint32_t handleAndFlow(const Node&) {
    return 3u;
}

}  // namespace

constexpr OpDef kTensorArrayOps[] = {
    {.type = OpType::TensorArray,
     .parse = parseTensorArray,
     .shape = shapeTensorArray,
     .geometry = geometryTensorArray,
     .valueInputs = contentOfInput0},
    {.type = OpType::TensorArraySize,
     .parse = parseTensorArray,
     .shape = shapeArraySize,
     .geometry = geometryArraySize,
     .shapeOnlyInputs = handleAndFlow},
    {.type = OpType::TensorArrayRead,
     .parse = parseTensorArray,
     .shape = shapeArrayRead,
     .geometry = geometryArrayRead,
     .valueInputs = contentOfInput1,
     .dynamicOffsetInputs = contentOfInput1,
     .shapeOnlyInputs = handleInput},
    {.type = OpType::TensorArrayWrite,
     .parse = parseTensorArray,
     .shape = shapeArrayWrite,
     .geometry = geometryArrayWrite,
     .valueInputs = contentOfInput1,
     .dynamicOffsetInputs = contentOfInput1,
     .shapeOnlyInputs = handleInput},
    {.type = OpType::TensorArrayInsert,
     .parse = parseTensorArray,
     .shape = shapeArrayInsert,
     .geometry = geometryArrayInsert,
     .valueInputs = contentOfInput1,
     .shapeOnlyInputs = handleInput},
    {.type = OpType::TensorArrayErase,
     .parse = parseTensorArray,
     .shape = shapeArrayErase,
     .geometry = geometryArrayErase,
     .valueInputs = contentOfInput1,
     .shapeOnlyInputs = handleInput},
};
extern constinit const OpFamily tensorArrayOps = kTensorArrayOps;

}  // namespace mnnc
