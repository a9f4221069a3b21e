// Functions that the rules of the TensorArray operators share.
#include "ops/tensor_array_parts.h"

#include <algorithm>

#include "mnn_generated.h"

namespace mnnc {

TensorList writtenList(const TensorList& list, int64_t index, const Shape& element) {
    const int64_t size = list.size();
    if (!list.anyKnown()) return {std::max(size, index + 1), true, element};
    TensorList result = list.part(0, index);
    result.append({index - size, false, {}});  // empty unless the sequence grows by more than this element
    result.append({1, true, element});
    result.appendAll(list.part(index + 1, size));
    return result;
}

ParamsPtr parseTensorArray(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::TensorArray* table = op.main_as_TensorArray();
    auto params = std::make_shared<TensorArrayParams>();
    if (!table) {
        if (context.node.type == OpType::TensorArraySize) return params;
        fail(Status::BadParameter, "op '%s' carries no TensorArray table", name);
    }
    params->dynamic = table->dynamic_size();
    if (context.node.type == OpType::TensorArray)  // the others have the type of the sequence
        params->type = dataTypeFromWire(static_cast<int32_t>(table->T()), name);
    params->axis = table->axis();
    params->keepDims = table->keepdims();
    params->newAxis = table->new_axis();
    const auto* extents = table->element_shape();
    if (extents && extents->size() > 0 &&
        std::all_of(extents->begin(), extents->end(), [](int32_t extent) { return extent >= 0; }))
        params->element = Shape(std::span<const int32_t>(extents->data(), extents->size()));
    return params;
}

const TensorArrayParams& tensorArrayParams(const ShapeContext& context) {
    return context.node.paramsAs<TensorArrayParams>();
}

int flowInput(const ShapeContext& context) {
    return context.inputCount() - 1;
}
const TensorList& listOf(const ShapeContext& context) {
    const Tensor& flow = context.in(flowInput(context));
    if (!flow.list)
        fail(Status::BadType, "op '%s' (%s): its last input is a tensor and no sequence", context.name(),
             opTypeName(context.node.type));
    return *flow.list;
}

void setSequence(const ShapeContext& context, TensorList list, const Tensor& value) {
    const Tensor& flow = context.in(flowInput(context));
    const bool first = !flow.list->anyKnown();
    if (!first && flow.type != value.type)
        fail(Status::BadType, "op '%s': an element of %s does not fit a sequence of %s", context.name(),
             dataTypeName(value.type), dataTypeName(flow.type));
    if (!first && value.shape.rank() >= 4 && (flow.format == Format::NHWC) != (value.format == Format::NHWC))
        fail(Status::ComputeSizeError, "op '%s': an element has another order of axes than its sequence",
             context.name());
    list.dynamic = flow.list->dynamic;
    const int64_t total = list.total();
    context.set(0, Shape{total}, value.type, first ? value.format : flow.format);
    context.out(0).list = std::make_shared<const TensorList>(std::move(list));
}

int64_t elementIndex(const ShapeContext& context, int64_t index, int64_t size, bool behind) {
    const int64_t given = index;
    if (index < 0) index += size;
    if (index < 0 || index >= size + (behind ? 1 : 0))
        fail(Status::InputDataError, "op '%s': element %lld is outside of a sequence of %lld", context.name(),
             asLong(given), asLong(size));
    return index;
}

const TensorList::Run& knownElement(const ShapeContext& context, const TensorList& list, int64_t index) {
    const TensorList::Run& run = list.at(index);
    if (!run.known)
        fail(Status::InputDataError, "op '%s': element %lld of a sequence is read, but was never written",
             context.name(), asLong(index));
    return run;
}

int64_t writeIndex(const ShapeContext& context, const TensorList& list, int64_t index) {
    if (index < 0 || (index >= list.size() && !list.dynamic))
        fail(Status::InputDataError, "op '%s': element %lld cannot be written to a sequence of %lld", context.name(),
             asLong(index), asLong(list.size()));
    return index;
}

void copyElements(Parts& parts, const OpContext& context, const TensorList& list, int64_t first, int64_t last) {
    const int64_t from = list.offset(first);
    parts.copy(flowInput(context), from, list.offset(last) - from);
}

}  // namespace mnnc
