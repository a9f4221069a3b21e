// Range, LinSpace, RandomUniform, RandomNormal: separate commands generate the numbers.
#include <cmath>

#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/fill.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

void shapeRange(const ShapeContext& context) {
    const bool whole = context.in(0).type != DataType::Float32;
    float value[3];
    for (int i = 0; i < 3; ++i) {
        if (context.in(i).type != context.in(0).type)
            fail(Status::BadType, "op '%s': start is %s and input %d is %s, equal types are needed", context.name(),
                 dataTypeName(context.in(0).type), i, dataTypeName(context.in(i).type));
        if (context.in(i).empty()) fail(Status::ComputeSizeError, "op '%s': input %d is empty", context.name(), i);
        value[i] = whole ? static_cast<float>(context.intAt(i)) : context.floats(i)[0];
    }
    if (!(value[2] != 0)) fail(Status::ComputeSizeError, "op '%s': the step of a range is 0", context.name());
    // Integers are subtracted before the difference is rounded to a float.
    const float distance = whole ? static_cast<float>(context.intAt(1) - context.intAt(0)) : value[1] - value[0];
    float count = 0;
    if ((value[2] > 0) == (distance > 0) && distance != 0) count = std::ceil(std::fabs(distance / value[2]));
    if (!(count < 2147483648.0f))
        fail(Status::Overflow, "op '%s': a range of %g elements is too long", context.name(),
             static_cast<double>(count));
    context.set(0, Shape{static_cast<int64_t>(count)}, whole ? DataType::Int32 : DataType::Float32,
                context.in(0).format);
}

void shapeLinSpace(const ShapeContext& context) {
    for (int i = 0; i < 2; ++i)
        if (context.in(i).type != DataType::Float32 || context.in(i).empty())
            fail(Status::BadType, "op '%s': input %d must be a float32 scalar", context.name(), i);
    const int64_t count = context.intAt(2);
    if (count <= 0)
        fail(Status::ComputeSizeError, "op '%s': %lld values are requested, at least 1 is needed", context.name(),
             asLong(count));
    context.set(0, Shape{count});
}

ParamsPtr parseRandom(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::RandomUniform* table = op.main_as_RandomUniform();
    if (!table) fail(Status::BadParameter, "op '%s' carries no RandomUniform table", name);
    auto params = std::make_shared<RandomParams>();
    params->seeded = table->seed() != 0 || table->seed2() != 0;
    params->type = dataTypeFromWire(static_cast<int32_t>(table->type()), name);
    params->low = table->low();
    params->high = table->high();
    return params;
}

void shapeRandom(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<RandomParams>();
    const bool uniform = context.node.type == OpType::RandomUniform;
    if (uniform ? !(params->low < params->high) : !(params->high >= 0))
        fail(Status::InputDataError, "op '%s': random numbers cannot have the parameters %g and %g", context.name(),
             static_cast<double>(params->low), static_cast<double>(params->high));
    if (params->type != DataType::Float32 && params->type != DataType::Int32 && params->type != DataType::UInt8)
        fail(Status::NotSupported, "op '%s': random numbers of type %s are not supported", context.name(),
             dataTypeName(params->type));
    context.set(0, checkedShape(context.ints(0), context.name()), params->type, Format::NCHW);
}

}  // namespace

constexpr OpDef kRangeOps[] = {
    {.type = OpType::Range, .shape = shapeRange, .valueInputs = [](const Node&) { return 7u; }},
    {.type = OpType::LinSpace, .shape = shapeLinSpace, .valueInputs = [](const Node&) { return 4u; }},
    {.type = OpType::RandomUniform, .parse = parseRandom, .shape = shapeRandom, .valueInputs = contentOfInput0},
    {.type = OpType::RandomNormal, .parse = parseRandom, .shape = shapeRandom, .valueInputs = contentOfInput0},
};
extern constinit const OpFamily rangeOps = kRangeOps;

}  // namespace mnnc
