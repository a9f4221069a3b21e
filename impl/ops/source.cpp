// Const, TrainableParam, Input, Identity, Dropout. Copy exists only between backends of the official runtime; a file
// that contains one is refused, as by the official runtime.
#include "ops/source.h"

#include <algorithm>

#include "mnn_generated.h"
#include "model/const_floats.h"
#include "model/model.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

Format formatFromWire(int value, const char* name) {
    if (value < 0 || value > 2) fail(Status::BadParameter, "op '%s': %d is not a tensor format", name, value);
    return static_cast<Format>(value);
}

ParamsPtr parseConst(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::Blob* blob = op.main_as_Blob();
    if (!blob) fail(Status::BadParameter, "op '%s' (a constant) carries no Blob table", name);
    auto params = std::make_shared<ConstParams>();
    params->model = &context.model;
    params->op = &op;
    params->name = name;
    params->owner = decodeBlob(*blob, context.model.weightFiles(op), name, Large::Leave);
    params->type = dataTypeFromWire(params->owner.dataType, name);
    params->format = formatFromWire(params->owner.dataFormat, name);
    params->shape = Shape(std::span<const int32_t>(params->owner.dims));
    for (int axis = 0; axis < params->shape.rank(); ++axis)
        params->shape[axis] = std::max<int64_t>(params->shape[axis], 0);
    params->data = params->owner.bytes.empty() ? nullptr : params->owner.bytes.data();
    return params;
}

}  // namespace

std::shared_ptr<const void> ConstParams::load() const {
    if (!leftInFile()) return {std::shared_ptr<const void>(), data};
    const std::lock_guard lock(mutex_);
    if (auto content = loaded_.lock()) return content;
    model->readingWeights(owner.count);
    const auto read =
        std::make_shared<const ConstData>(decodeBlob(*op->main_as_Blob(), model->weightFiles(*op), name.c_str()));
    std::shared_ptr<const void> content(read, read->bytes.data());
    loaded_ = content;
    return content;
}

FloatSource ConstParams::floats() const {
    const auto stored =
        leftInFile() ? plainFloats(*op->main_as_Blob(), model->weightFiles(*op), name.c_str()) : std::nullopt;
    if (stored) {
        model->readingWeights(static_cast<int64_t>(stored->size()));
        return FloatSource(*stored);
    }
    const auto bytes = static_cast<size_t>(shape.elements()) * sizeof(float);
    std::shared_ptr<const void> content = load();
    return FloatSource(FloatView::hold({{static_cast<const uint8_t*>(content.get()), bytes}, content}));
}

namespace {

void shapeConst(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<ConstParams>();
    context.set(0, params->shape, params->type, params->format);
}

void geometryConst(const OpContext& context) {
    context.geometry.constant(context.outputs[0], context.node.paramsAs<ConstParams>().load().get());
}

ParamsPtr parseInput(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::Input* table = op.main_as_Input();
    if (!table) fail(Status::BadParameter, "op '%s' (Input) carries no Input table", name);
    auto params = std::make_shared<InputParams>();
    if (table->dims()) {
        if (table->dims()->size() > static_cast<uint32_t>(kMaxRank))
            fail(Status::BadParameter, "op '%s': the input has rank %u; the limit is %d", name, table->dims()->size(),
                 kMaxRank);
        for (const int32_t extent : *table->dims()) params->shape.push(extent < 0 ? -1 : extent);
    }
    params->type = dataTypeFromWire(static_cast<int32_t>(table->dtype()), name);
    params->format = formatFromWire(static_cast<int>(table->dformat()), name);
    return params;
}

// Sets the shape of an input before the caller sets one: an unknown batch is 1, other unknown extents are an error.
void shapeInput(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<InputParams>();
    Shape shape = params->shape;
    if (shape.rank() > 0 && shape[0] < 0) shape[0] = 1;
    for (const int64_t extent : shape)
        if (extent < 0)
            fail(Status::ComputeSizeError, "input '%s' has no complete shape (%s); set one first", context.name(),
                 params->shape.text().c_str());
    context.set(0, shape, params->type, params->format);
}

void geometryIdentity(const OpContext& context) {
    for (size_t i = 0; i < context.outputs.size(); ++i)
        if (!context.outputs[i]->empty())
            context.geometry.copyLinear(context.outputs[i], context.inputs[i], context.node.name);
}

// At inference the data passes through, and the mask, if there is such an output, keeps everything; ratio and mode have
// no effect, even if they are inputs.
void shapeDropout(const ShapeContext& context) {
    context.set(0, context.in(0).shape);
    if (context.outputs.size() > 1) context.set(1, context.in(0).shape, DataType::Int32, context.in(0).format);
}

void geometryDropout(const OpContext& context) {
    if (!context.outputs[0]->empty())
        context.geometry.copyLinear(context.outputs[0], context.inputs[0], context.node.name);
    if (context.outputs.size() < 2 || context.outputs[1]->empty()) return;
    const std::vector<int32_t> kept(static_cast<size_t>(context.outputs[1]->elements()), 1);
    context.geometry.constant(context.outputs[1], kept.data());
}

}  // namespace

constexpr OpDef kSourceOps[] = {
    {.type = OpType::Const, .parse = parseConst, .shape = shapeConst, .geometry = geometryConst},
    {.type = OpType::TrainableParam, .parse = parseConst, .shape = shapeConst, .geometry = geometryConst},
    {.type = OpType::Input, .parse = parseInput, .shape = shapeInput},
    {.type = OpType::Identity, .geometry = geometryIdentity},
    {.type = OpType::Dropout, .shape = shapeDropout, .geometry = geometryDropout},
};
extern constinit const OpFamily sourceOps = kSourceOps;

}  // namespace mnnc
