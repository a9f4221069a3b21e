// BinaryOp (NumPy broadcasting) and Eltwise (equal shapes, any number of inputs).
#include "ops/binary.h"

#include <algorithm>

#include "model/model.h"
#include "model/wire_access.h"
#include "ops/cast.h"
#include "ops/families.h"

namespace mnnc {
namespace {

ParamsPtr parseBinary(const wire::Op& op, const ParseContext& context) {
    const wire::BinaryOp* table = op.main_as_BinaryOp();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s' carries no BinaryOp table", name);
    const ModelSource source = context.model.sourceType();
    auto params = std::make_shared<BinaryParams>();
    params->code = static_cast<int>(table->opType());
    if (params->code < 0 || params->code > 29 || params->code == 18)
        fail(Status::NotSupported, "binary code %d is not supported", params->code);
    if (params->code == kBinaryDiv && source == ModelSource::Onnx) {
        params->code = kBinaryAdd;
        params->mean = true;
    } else {
        params->code = currentBinaryCode(params->code);
    }
    params->mod = modRule(source);
    if (table->activationType() != 0 && table->activationType() != 1)
        fail(Status::NotSupported, "the activation %d of a binary operator is not supported", table->activationType());
    params->relu = table->activationType() == 1;
    return params;
}

bool isComparison(int code) {
    constexpr int kEqual = 15, kNotEqual = 22;
    return code == kBinaryGreater || code == kBinaryGreaterEqual || code == kBinaryLess || code == kBinaryLessEqual ||
           code == kEqual || code == kNotEqual;
}

bool isFloat(DataType type) {
    return type == DataType::Float32 || type == DataType::BFloat16;
}

// NumPy's promotion for the types of tensors.
DataType commonType(DataType a, DataType b) {
    if (a == b) return a;
    return isFloat(a) || isFloat(b) ? DataType::Float32 : DataType::Int32;
}

// https://onnx.ai/onnx/operators/onnx__Pow.html: a power has the type of its base.
DataType resultType(int code, DataType a, DataType b) {
    if (isComparison(code)) return DataType::Int32;
    return code == kBinaryPow ? a : commonType(a, b);
}

// In a static model Rasters have made operands of different shapes equal, some of them with other extents: operands
// with as many elements as the result are combined in the order of memory.
bool isElementByElement(const Node& node, const Tensor& a, const Tensor& b) {
    return !node.fixed.empty() && !(a.shape == b.shape) && a.elements() == b.elements() &&
           a.elements() == node.fixed[0].shape.elements();
}

void shapeBinary(const ShapeContext& context) {
    const Tensor& a = context.in(0);
    const Tensor& b = context.in(1);
    const Shape shape = isElementByElement(context.node, a, b) ? context.node.fixed[0].shape
                                                               : broadcastShapes(a.shape, b.shape, context.name());
    const auto& params = context.node.paramsAs<BinaryParams>();
    if (params.mean && commonType(a.type, b.type) != DataType::Float32)
        fail(Status::NotSupported, "op '%s': the mean of %s and %s is not supported", context.name(),
             dataTypeName(a.type), dataTypeName(b.type));
    context.set(0, shape, resultType(params.code, a.type, b.type),
                b.shape.rank() > a.shape.rank() ? b.format : a.format);
}

Tensor* converted(const OpContext& context, Tensor* input, DataType type) {
    if (input->type == type) return input;
    Tensor* output = context.geometry.temporary(input->shape, type, input->format);
    emitCast(context, input, output);
    return output;
}

Tensor* inShape(const OpContext& context, Tensor* input, const Shape& shape) {
    if (input->shape == shape) return input;
    Tensor* output = context.geometry.temporary(shape, input->type, input->format);
    context.geometry.copyLinear(output, input, context.node.name);
    return output;
}

void emitBinary(const OpContext& context, int code, bool relu, Tensor* a, Tensor* b, Tensor* output) {
    auto params = std::make_shared<BinaryParams>();
    params->code = code;
    params->relu = relu;
    ValueCommand command;
    command.type = OpType::BinaryOp;
    command.name = context.node.name;
    command.params = std::move(params);
    command.inputs = {a, b};
    command.outputs = {output};
    context.geometry.emit(std::move(command));
}

// Returns a tensor with a single float.
Tensor* number(const OpContext& context, float value) {
    Tensor* tensor = context.geometry.temporary(Shape{}, DataType::Float32, context.out(0).format);
    context.geometry.constant(tensor, &value);
    return tensor;
}

// Operands of different types are converted first; only an integer to the power of a float needs both types.
void lowerBinary(const OpContext& context) {
    const auto& params = context.node.paramsAs<BinaryParams>();
    Tensor *a = context.inputs[0], *b = context.inputs[1], *output = context.outputs[0];
    if (isElementByElement(context.node, *a, *b)) {
        a = inShape(context, a, output->shape);
        b = inShape(context, b, output->shape);
    }
    DataType type = commonType(a->type, b->type);
    if (type == DataType::BFloat16) type = DataType::Float32;
    const bool whole = params.code == kBinaryPow && !isFloat(a->type) && isFloat(b->type);
    if (whole) type = DataType::Int32;
    a = converted(context, a, type);
    b = converted(context, b, whole ? DataType::Float32 : type);
    const DataType made = isComparison(params.code) ? DataType::Int32 : type;
    Tensor* result = made == output->type ? output : context.geometry.temporary(output->shape, made, output->format);
    if (params.mean) {
        Tensor* sum = context.geometry.temporary(output->shape, type, output->format);
        emitBinary(context, kBinaryAdd, false, a, b, sum);
        emitBinary(context, kBinaryMul, params.relu, sum, number(context, 0.5f), result);
    } else {
        emitBinary(context, commandBinaryCode(params.code, params.mod, type), params.relu, a, b, result);
    }
    if (result != output) emitCast(context, result, output);
}

double binaryFlops(const ShapeContext& context) {
    return static_cast<double>(context.out(0).elements());
}

ParamsPtr parseEltwise(const wire::Op& op, const ParseContext& context) {
    const wire::Eltwise* table = op.main_as_Eltwise();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s' carries no Eltwise table", name);
    constexpr int kCodes[] = {kBinaryMul, kBinaryAdd, kBinaryMaximum, kBinarySub};  // PROD, SUM, MAXIMUM, SUB
    const int type = static_cast<int>(table->type());
    if (type < 0 || type > 3) fail(Status::BadParameter, "op '%s': Eltwise type %d is unknown (0..3)", name, type);
    auto params = std::make_shared<EltwiseParams>();
    params->code = kCodes[type];
    // Writers leave a single coefficient where there are none.
    if (!table->coeff() || table->coeff()->size() < 2) return params;
    params->coeff.assign(table->coeff()->begin(), table->coeff()->end());
    if (std::all_of(params->coeff.begin(), params->coeff.end(), [](float value) { return value == 1; })) {
        params->coeff.clear();
        return params;
    }
    // Caffe has coefficients only for sums.
    if (params->code != kBinaryAdd)
        fail(Status::NotSupported, "coefficients of an Eltwise that is no sum are not supported");
    // {1, 0, 0, ...} of any length means the first input.
    const bool first = params->coeff[0] == 1 && std::all_of(params->coeff.begin() + 1, params->coeff.end(),
                                                            [](float value) { return value == 0; });
    if (first) params->coeff.resize(context.node.inputs.size());
    if (params->coeff.size() != context.node.inputs.size())
        fail(Status::BadParameter, "op '%s' has %zu coefficients for %zu inputs, one for each is needed", name,
             params->coeff.size(), context.node.inputs.size());
    return params;
}

void shapeEltwise(const ShapeContext& context) {
    for (int i = 1; i < context.inputCount(); ++i) {
        if (!(context.in(i).shape == context.in(0).shape))
            fail(Status::ComputeSizeError, "op '%s': input %d is %s, input 0 is %s; Eltwise does not broadcast",
                 context.name(), i, context.in(i).shape.text().c_str(), context.in(0).shape.text().c_str());
        if (context.in(i).type != context.in(0).type)
            fail(Status::ComputeSizeError, "op '%s': inputs of types %s and %s cannot be combined", context.name(),
                 dataTypeName(context.in(0).type), dataTypeName(context.in(i).type));
    }
    const auto& coeff = context.node.paramsAs<EltwiseParams>().coeff;
    const bool scaled = !coeff.empty() && (coeff[0] != 1 || std::any_of(coeff.begin(), coeff.end(), [](float value) {
                                               return value != 0 && value != 1;
                                           }));
    if (scaled && context.in(0).type != DataType::Float32)
        fail(Status::NotSupported, "op '%s': a sum with coefficients of %s is not supported", context.name(),
             dataTypeName(context.in(0).type));
    context.set(0, context.in(0).shape);
}

// Returns the inputs of a sum, multiplied by factors other than 1, and without inputs whose factor is 0.
std::vector<Tensor*> terms(const OpContext& context, const EltwiseParams& params) {
    std::vector<Tensor*> result;
    const Tensor& out = context.out(0);
    for (size_t i = 0; i < context.inputs.size(); ++i) {
        const float factor = params.coeff.empty() ? 1.0f : params.coeff[i];
        if (factor == 0) continue;
        result.push_back(context.inputs[i]);
        if (factor == 1) continue;
        result.back() = context.geometry.temporary(out.shape, out.type, out.format);
        emitBinary(context, kBinaryMul, false, context.inputs[i], number(context, factor), result.back());
    }
    return result;
}

void lowerEltwise(const OpContext& context) {
    const auto& params = context.node.paramsAs<EltwiseParams>();
    const Tensor& first = context.in(0);
    std::vector<Tensor*> inputs = terms(context, params);
    if (inputs.empty()) {
        Tensor* none = context.geometry.temporary(first.shape, first.type, first.format);
        emitBinary(context, kBinaryMul, false, context.inputs[0], number(context, 0), none);
        inputs.push_back(none);
    }
    if (inputs.size() == 1) return context.geometry.copyLinear(context.outputs[0], inputs[0], context.node.name);
    Tensor* left = inputs[0];
    for (size_t i = 1; i < inputs.size(); ++i) {
        Tensor* output = i + 1 == inputs.size() ? context.outputs[0]
                                                : context.geometry.temporary(first.shape, first.type, first.format);
        emitBinary(context, params.code, false, left, inputs[i], output);
        left = output;
    }
}

}  // namespace

int currentBinaryCode(int code) {
    constexpr int kMaxTemp = 4, kMinTemp = 5;  // MAX_TEMP and MIN_TEMP of BinaryOpOperation (schema/mnn.fbs)
    if (code == kBinaryDiv) return kBinaryRealDiv;
    if (code == kMaxTemp) return kBinaryMaximum;
    return code == kMinTemp ? kBinaryMinimum : code;
}

ModRule modRule(ModelSource source) {
    if (source == ModelSource::Onnx) return ModRule::Onnx;
    const bool tensorFlow = source == ModelSource::TensorFlow || source == ModelSource::TfLite;
    return tensorFlow ? ModRule::TensorFlow : ModRule::AsCommands;
}

int commandBinaryCode(int code, ModRule rule, DataType type) {
    const bool swapped = rule == (type == DataType::Float32 ? ModRule::Onnx : ModRule::TensorFlow);
    if (swapped && code == kBinaryFloorMod) return kBinaryMod;
    if (swapped && code == kBinaryMod) return kBinaryFloorMod;
    return code;
}

constexpr OpDef kBinaryOps[] = {
    {.type = OpType::BinaryOp,
     .parse = parseBinary,
     .shape = shapeBinary,
     .geometry = lowerBinary,
     .flops = binaryFlops},
    {.type = OpType::Eltwise, .parse = parseEltwise, .shape = shapeEltwise, .geometry = lowerEltwise},
};
extern constinit const OpFamily binaryOps = kBinaryOps;

}  // namespace mnnc
