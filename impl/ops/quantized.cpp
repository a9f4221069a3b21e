// FloatToInt8, Int8ToFloat and EltwiseInt8.
#include "ops/quantized.h"

#include <cmath>

#include "mnn_generated.h"
#include "ops/channel_first.h"
#include "ops/families.h"

namespace mnnc {

namespace {

void requireFinite(const std::vector<float>& values, const char* what, const char* name) {
    for (const float value : values)
        if (!std::isfinite(value))
            fail(Status::BadParameter, "op '%s': a %s of %g is not finite", name, what, static_cast<double>(value));
}

ParamsPtr parseQuantCast(const wire::Op& op, const ParseContext& context) {
    const wire::QuantizedFloatParam* table = op.main_as_QuantizedFloatParam();
    if (!table) return nullptr;
    const char* name = context.node.name.c_str();
    auto params = std::make_shared<QuantCastParams>();
    if (table->tensorScale()) params->scale.assign(table->tensorScale()->begin(), table->tensorScale()->end());
    if (params->scale.empty()) fail(Status::BadParameter, "op '%s' has a table without tensorScale", name);
    params->zero.assign(params->scale.size(), static_cast<float>(table->zeroPoint()));
    if (const auto* zeros = table->floatzeros(); zeros && zeros->size() > 0) {
        const bool whole = zeros->size() == params->scale.size();
        if (!whole && zeros->size() != 1)
            fail(Status::BadParameter, "op '%s' has %u zero points for %zu scales, one or one for each is needed", name,
                 zeros->size(), params->scale.size());
        // In conversions to int8 the first value is used for all channels.
        const bool each = whole && context.node.type == OpType::Int8ToFloat;
        for (size_t i = 0; i < params->zero.size(); ++i)
            params->zero[i] = zeros->Get(each ? static_cast<uint32_t>(i) : 0);
    }
    requireFinite(params->scale, "scale", name);
    requireFinite(params->zero, "zero point", name);
    params->min = table->clampMin();
    params->max = table->clampMax();
    if (params->min > params->max)
        fail(Status::BadParameter, "op '%s': int8 results are clamped to %g and %g, an ascending range is needed", name,
             static_cast<double>(params->min), static_cast<double>(params->max));
    return params;
}

void quantCastShape(const ShapeContext& context) {
    const bool toInt8 = context.node.type == OpType::FloatToInt8;
    const Tensor& x = context.in(0);
    const DataType needed = toInt8 ? DataType::Float32 : DataType::Int8;
    // Converters write the zero points of unsigned codes less 128: Int8ToFloat of uint8 subtracts 128 from the codes,
    // too.
    if (x.type != needed && (toInt8 || x.type != DataType::UInt8))
        fail(Status::BadType, "op '%s': its input is %s, %s is needed", context.name(), dataTypeName(x.type),
             dataTypeName(needed));
    if (const auto* params = context.node.paramsIf<QuantCastParams>(); params && params->scale.size() > 1) {
        const int64_t channels = x.shape.rank() < 2 ? 0 : channelFirstShape(x, context.name())[1];
        if (static_cast<int64_t>(params->scale.size()) != channels)
            fail(Status::ComputeSizeError, "op '%s' has %zu scales for %lld channels, one or one for each is needed",
                 context.name(), params->scale.size(), asLong(channels));
    }
    context.set(0, x.shape, toInt8 ? DataType::Int8 : DataType::Float32, x.format);
}

void quantCastGeometry(const OpContext& context) {
    const auto* params = context.node.paramsIf<QuantCastParams>();
    if (params && params->scale.size() > 1)
        emitChannelFirst(context, context.command());
    else
        context.geometry.emit(context.command());
}

// The operator is a sum even if its type is another one, and its scales are used only if there is a single one or one
// per channel.
ParamsPtr parseEltwiseInt8(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::EltwiseInt8* table = op.main_as_EltwiseInt8();
    if (!table) fail(Status::BadParameter, "op '%s' carries no EltwiseInt8 table", name);
    auto params = std::make_shared<EltwiseInt8Params>();
    const wire::QuantizedFloatParam* parts[] = {table->inputQuan0(), table->inputQuan1(), table->outputQuan()};
    for (size_t i = 0; i < 3; ++i) {
        const auto* scale = parts[i] ? parts[i]->tensorScale() : nullptr;
        if (!scale || scale->size() == 0) fail(Status::BadParameter, "op '%s': scale %zu of its 3 is missing", name, i);
        params->scale[i].assign(scale->begin(), scale->end());
        requireFinite(params->scale[i], "scale", name);
    }
    return params;
}

void eltwiseInt8Shape(const ShapeContext& context) {
    const Tensor &a = context.in(0), &b = context.in(1);
    if (a.type != DataType::Int8 || b.type != DataType::Int8)
        fail(Status::BadType, "op '%s': its inputs are %s and %s, int8 is needed", context.name(), dataTypeName(a.type),
             dataTypeName(b.type));
    if (!(a.shape == b.shape) || a.format != b.format)
        fail(Status::ComputeSizeError, "op '%s': its inputs are %s and %s, equal shapes and formats are needed",
             context.name(), a.shape.text().c_str(), b.shape.text().c_str());
    const int64_t channels = channelFirstShape(a, context.name())[1];
    for (const auto& scale : context.node.paramsAs<EltwiseInt8Params>().scale)
        if (scale.size() != 1 && static_cast<int64_t>(scale.size()) != channels)
            fail(Status::ComputeSizeError, "op '%s' has %zu scales for %lld channels, one or one for each is needed",
                 context.name(), scale.size(), asLong(channels));
    context.set(0, a.shape);
}

void eltwiseInt8Geometry(const OpContext& context) {
    ValueCommand command = context.command();
    for (Tensor*& input : command.inputs) input = channelFirstInput(context, input);
    Tensor* result = channelFirstOutput(context, context.outputs[0]);
    command.outputs = {result};
    context.geometry.emit(std::move(command));
    finishOutput(context, context.outputs[0], result);
}

}  // namespace

constexpr OpDef kQuantizedOps[] = {
    {.type = OpType::FloatToInt8, .parse = parseQuantCast, .shape = quantCastShape, .geometry = quantCastGeometry},
    {.type = OpType::Int8ToFloat, .parse = parseQuantCast, .shape = quantCastShape, .geometry = quantCastGeometry},
    {.type = OpType::EltwiseInt8,
     .parse = parseEltwiseInt8,
     .shape = eltwiseInt8Shape,
     .geometry = eltwiseInt8Geometry},
};
extern constinit const OpFamily quantizedOps = kQuantizedOps;

}  // namespace mnnc
