// BinaryOp (NumPy broadcasting) and Eltwise (equal shapes, any number of inputs).
#include "ops/binary.h"
#include "model/wire_access.h"
#include "ops/families.h"

namespace mnnc {
namespace {

ParamsPtr parseBinary(const wire::Op& op, const ParseContext& context) {
    const wire::BinaryOp* table = op.main_as_BinaryOp();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s': BinaryOp without its parameter table", name);
    const int code = static_cast<int>(table->opType());
    if (code < 0 || code > 29 || (code >= 3 && code <= 5) || code == 18)
        fail(Status::BadParameter, "op '%s': binary code %d cannot be executed", name, code);
    if (table->activationType() != 0 && table->activationType() != 1)
        fail(Status::BadParameter, "op '%s': activationType %d is unknown", name, table->activationType());
    auto params = std::make_shared<BinaryParams>();
    params->code = code;
    params->relu = table->activationType() == 1;
    return params;
}

// Float, signed or unsigned integer: operands must agree in it.
int typeClass(DataType type) {
    switch (type) {
        case DataType::Float32:
        case DataType::BFloat16:
            return 0;
        case DataType::UInt8:
        case DataType::UInt16:
            return 2;
        default:
            return 1;
    }
}

bool isComparison(int code) {
    return code == 10 || code == 11 || code == 12 || code == 15 || code == 16 || code == 22;
}

void shapeBinary(const ShapeContext& context) {
    const Tensor& a = context.in(0);
    const Tensor& b = context.in(1);
    if (typeClass(a.type) != typeClass(b.type))
        fail(Status::ComputeSizeError, "op '%s': inputs of types %s and %s cannot be combined",
             context.name(), dataTypeName(a.type), dataTypeName(b.type));
    const Shape shape = broadcastShapes(a.shape, b.shape, context.name());
    const int code = context.node.paramsAs<BinaryParams>().code;
    context.set(0, shape, isComparison(code) ? DataType::Int32 : a.type,
                b.shape.rank() > a.shape.rank() ? b.format : a.format);
}

ParamsPtr parseEltwise(const wire::Op& op, const ParseContext& context) {
    const wire::Eltwise* table = op.main_as_Eltwise();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s': Eltwise without its parameter table", name);
    constexpr int kCodes[] = {2, 0, 9, 1};  // PROD, SUM, MAXIMUM, SUB
    const int type = static_cast<int>(table->type());
    if (type < 0 || type > 3)
        fail(Status::BadParameter, "op '%s': Eltwise type %d is unknown (0..3)", name, type);
    auto params = std::make_shared<EltwiseParams>();
    params->code = kCodes[type];
    if (table->coeff() && table->coeff()->size() >= 2) {
        params->coeff.assign(table->coeff()->begin(), table->coeff()->end());
        bool first = params->coeff[0] == 1, ones = first;
        for (size_t i = 1; i < params->coeff.size(); ++i) {
            first = first && params->coeff[i] == 0;
            ones = ones && params->coeff[i] == 1;
        }
        if (ones) {
            params->coeff.clear();
        } else if (!first || type != 1) {
            fail(Status::BadParameter,
                 "op '%s': these Eltwise coefficients are not supported (SUM with 1, 0, 0, ... is)", name);
        }
    }
    return params;
}

void shapeEltwise(const ShapeContext& context) {
    for (int i = 1; i < context.inputCount(); ++i) {
        if (!(context.in(i).shape == context.in(0).shape))
            fail(Status::ComputeSizeError,
                 "op '%s': input %d is %s, input 0 is %s; Eltwise does not broadcast", context.name(), i,
                 context.in(i).shape.text().c_str(), context.in(0).shape.text().c_str());
        if (context.in(i).type != context.in(0).type)
            fail(Status::ComputeSizeError, "op '%s': inputs of types %s and %s cannot be combined",
                 context.name(), dataTypeName(context.in(0).type), dataTypeName(context.in(i).type));
    }
    context.set(0, context.in(0).shape);
}

void lowerEltwise(const OpContext& context) {
    const auto* params = context.node.paramsIf<EltwiseParams>();
    if (!params->coeff.empty() || context.inputCount() == 1)
        return context.geometry.copyLinear(context.outputs[0], context.inputs[0], context.node.name);
    auto binary = std::make_shared<BinaryParams>();
    binary->code = params->code;
    const Tensor& first = context.in(0);
    Tensor* left = context.inputs[0];
    for (int i = 1; i < context.inputCount(); ++i) {
        Tensor* output = i + 1 == context.inputCount()
                             ? context.outputs[0]
                             : context.geometry.temporary(first.shape, first.type, first.format);
        Command command;
        command.type = OpType::BinaryOp;
        command.name = context.node.name;
        command.params = binary;
        command.inputs = {left, context.inputs[static_cast<size_t>(i)]};
        command.outputs = {output};
        context.geometry.emit(std::move(command));
        left = output;
    }
}

}  // namespace

OpFamily binaryOps() {
    static constexpr OpDef kOps[] = {
        {.type = OpType::BinaryOp, .parse = parseBinary, .shape = shapeBinary},
        {.type = OpType::Eltwise, .parse = parseEltwise, .shape = shapeEltwise, .geometry = lowerEltwise},
    };
    return kOps;
}

}  // namespace mnnc
