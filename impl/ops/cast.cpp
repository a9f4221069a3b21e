// Cast and CastLike. CastLike becomes a Cast to the type of its second input; casts that change nothing are
// copies.
#include "ops/cast.h"

#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

bool castSupported(DataType from, DataType to) noexcept {
    using enum DataType;
    if (from == to) return true;
    switch (to) {
        case Float32:
            return from == Int32 || from == UInt8 || from == Int8 || from == BFloat16;
        case Int32:
            return from == Float32 || from == UInt8 || from == Int8;
        case Int8:
            return from == Float32 || from == Int32;
        case UInt8:
            return from == Float32 || from == Int32 || from == Int8;
        default:
            return false;
    }
}

namespace {

ParamsPtr parseCast(const wire::Op& op, const ParseContext& context) {
    const wire::CastParam* table = op.main_as_CastParam();
    if (!table)
        fail(Status::BadParameter, "op '%s' (Cast) carries no CastParam table", context.node.name.c_str());
    auto params = std::make_shared<CastParams>();
    params->type = dataTypeFromWire(static_cast<int32_t>(table->dstT()), context.node.name.c_str());
    params->toBool = table->dstT() == wire::DataType::DT_BOOL;
    return params;
}

void setCast(const ShapeContext& context, DataType type) {
    const Tensor& input = context.in(0);
    if (!castSupported(input.type, type))
        fail(Status::NotSupported, "op '%s': a cast from %s to %s is not supported", context.name(),
             dataTypeName(input.type), dataTypeName(type));
    context.set(0, input.shape, type, input.format);
}

void shapeCast(const ShapeContext& context) {
    setCast(context, context.node.paramsAs<CastParams>().type);
}
void shapeCastLike(const ShapeContext& context) {
    setCast(context, context.in(1).type);
}

void emitCast(const OpContext& context, ParamsPtr params, bool toBool) {
    if (context.in(0).type == context.out(0).type && !(toBool && elementBytes(context.in(0).type) == 4)) {
        copyGeometry(context);
        return;
    }
    Command command = context.command();
    command.type = OpType::Cast;
    command.params = std::move(params);
    command.inputs.resize(1);
    context.geometry.emit(std::move(command));
}

void geometryCast(const OpContext& context) {
    emitCast(context, context.node.params, context.node.paramsAs<CastParams>().toBool);
}

void geometryCastLike(const OpContext& context) {
    auto params = std::make_shared<CastParams>();
    params->type = context.out(0).type;
    emitCast(context, std::move(params), false);
}

constexpr OpDef kCastOps[] = {
    {.type = OpType::Cast, .parse = parseCast, .shape = shapeCast, .geometry = geometryCast},
    {.type = OpType::CastLike,
     .shape = shapeCastLike,
     .geometry = geometryCastLike,
     .shapeOnlyInputs = [](const Node&) { return 2u; }},
};

}  // namespace

OpFamily castOps() {
    return kCastOps;
}

}  // namespace mnnc
