// Cast and CastLike. CastLike becomes a Cast to the type of its second input; casts that change nothing are
// copies.
#include "ops/cast.h"

#include "base/error.h"
#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

void emitCast(const OpContext& context, Tensor* input, Tensor* output) {
    auto params = std::make_shared<CastParams>();
    params->type = output->type;
    ValueCommand command;
    command.type = OpType::Cast;
    command.name = context.node.name;
    command.params = std::move(params);
    command.inputs = {input};
    command.outputs = {output};
    context.geometry.emit(std::move(command));
}

namespace {

ParamsPtr parseCast(const wire::Op& op, const ParseContext& context) {
    const wire::CastParam* table = op.main_as_CastParam();
    if (!table) fail(Status::BadParameter, "op '%s' (Cast) carries no CastParam table", context.node.name.c_str());
    auto params = std::make_shared<CastParams>();
    try {
        params->type = dataTypeFromWire(static_cast<int32_t>(table->dstT()), "Cast");
    } catch (const Error&) {
        fail(Status::NotSupported, "a cast to %s is not supported", wire::EnumNameDataType(table->dstT()));
    }
    params->toBool = table->dstT() == wire::DataType::DT_BOOL;
    params->toHalf = table->dstT() == wire::DataType::DT_HALF;
    return params;
}

void shapeCast(const ShapeContext& context) {
    context.set(0, context.in(0).shape, context.node.paramsAs<CastParams>().type, context.in(0).format);
}
void shapeCastLike(const ShapeContext& context) {
    context.set(0, context.in(0).shape, context.in(1).type, context.in(0).format);
}

void geometryCast(const OpContext& context) {
    const auto& params = context.node.paramsAs<CastParams>();
    Tensor *input = context.inputs[0], *output = context.outputs[0];
    if (params.toHalf && input->type != DataType::Float32) {
        // Integers are rounded like floats.
        Tensor* wide = context.geometry.temporary(input->shape, DataType::Float32, input->format);
        emitCast(context, input, wide);
        input = wide;
    }
    if (input->type == output->type && !params.toBool && !params.toHalf) return copyGeometry(context);
    ValueCommand command = context.command();
    command.inputs = {input};
    context.geometry.emit(std::move(command));
}

void geometryCastLike(const OpContext& context) {
    if (context.in(0).type == context.out(0).type) return copyGeometry(context);
    emitCast(context, context.inputs[0], context.outputs[0]);
}

}  // namespace

constexpr OpDef kCastOps[] = {
    {.type = OpType::Cast, .parse = parseCast, .shape = shapeCast, .geometry = geometryCast},
    {.type = OpType::CastLike,
     .shape = shapeCastLike,
     .geometry = geometryCastLike,
     .shapeOnlyInputs = [](const Node&) { return 2u; }},
};
extern constinit const OpFamily castOps = kCastOps;

}  // namespace mnnc
