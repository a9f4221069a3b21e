// Dequantize and DynamicQuant: parameters and shape rules.
#include "ops/dequantize.h"

#include <cmath>

#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

ParamsPtr parseDequantize(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const auto* table = op.main_as_Dequantize();
    if (!table) fail(Status::BadParameter, "op '%s' carries no Dequantize table", name);
    auto params = std::make_shared<DequantizeParams>();
    params->type = static_cast<int>(table->type());
    const int mode = static_cast<int>(table->mode()), source = static_cast<int>(table->modelFormat());
    if (source < 0 || source > 1) fail(Status::BadParameter, "op '%s': modelFormat %d is unknown", name, source);
    if (source == 1) {
        const auto* quantized = table->inputQuantizedParam();
        if (!quantized) fail(Status::BadParameter, "op '%s' has no inputQuantizedParam", name);
        params->scale = quantized->scale();
        params->zero = static_cast<float>(quantized->zeroPoint());
        if (!std::isfinite(params->scale))
            fail(Status::BadParameter, "op '%s': a scale of %g is not finite", name,
                 static_cast<double>(params->scale));
        return params;
    }
    if (mode < 0 || mode > 2) fail(Status::BadParameter, "op '%s': mode %d is unknown", name, mode);
    if (context.node.inputs.size() < 3)
        fail(Status::BadParameter, "op '%s' has %zu inputs; values, minimum and maximum are needed", name,
             context.node.inputs.size());
    params->mode = static_cast<DequantMode>(mode);
    return params;
}

void shapeDequantize(const ShapeContext& context) {
    const auto& params = context.node.paramsAs<DequantizeParams>();
    const DataType type = context.in(0).type;
    if (type == DataType::Float32 || type == DataType::BFloat16)
        fail(Status::BadType, "op '%s': its input is %s, integers are needed", context.name(), dataTypeName(type));
    if (params.type != 0 && dataTypeFromWire(params.type, context.name()) != type)
        fail(Status::BadType, "op '%s': its input is %s, the file says type %d", context.name(), dataTypeName(type),
             params.type);
    if (params.mode != DequantMode::Affine)
        for (const int i : {1, 2})
            if (context.in(i).type != DataType::Float32 || context.in(i).elements() != 1)
                fail(Status::ComputeSizeError, "op '%s': input %d is %s of %s, one float32 is needed", context.name(),
                     i, dataTypeName(context.in(i).type), context.in(i).shape.text().c_str());
    context.set(0, context.in(0).shape, DataType::Float32, context.in(0).format);
}

// The outputs are codes, their scale and their zero point, as of ONNX's DynamicQuantizeLinear; codes and zero point are
// smaller by 128.
void shapeDynamicQuant(const ShapeContext& context) {
    if (context.in(0).type != DataType::Float32)
        fail(Status::BadType, "op '%s': its input is %s, float32 is needed", context.name(),
             dataTypeName(context.in(0).type));
    context.set(0, context.in(0).shape, DataType::Int8, context.in(0).format);
    for (const int i : {1, 2}) context.set(i, Shape{}, DataType::Float32, context.in(0).format);
}

}  // namespace

constexpr OpDef kDequantizeOps[] = {
    {.type = OpType::Dequantize, .parse = parseDequantize, .shape = shapeDequantize},
    {.type = OpType::DynamicQuant, .shape = shapeDynamicQuant},
};
extern constinit const OpFamily dequantizeOps = kDequantizeOps;

}  // namespace mnnc
