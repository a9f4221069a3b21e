// Functions that shape and geometry rules share: values of inputs, Rasters, the default shape rule.
#include "ops/op_def.h"

#include "base/error.h"

namespace mnnc {

namespace {

const Tensor& knownInput(const ShapeContext& context, int i) {
    if (i < 0 || i >= context.inputCount())
        fail(Status::ComputeSizeError, "op '%s': input %d is needed, it has %d", context.name(), i,
             context.inputCount());
    const Tensor& tensor = context.in(i);
    if (!tensor.hasConstantValue)
        fail(Status::ComputeSizeError, "op '%s': the values of input %d ('%s') are not known when shapes are computed",
             context.name(), i, tensor.name.c_str());
    return tensor;
}

}  // namespace

std::span<const int32_t> ShapeContext::intSpan(int i) const {
    const Tensor& tensor = knownInput(*this, i);
    if (tensor.type != DataType::Int32)
        fail(Status::BadType, "op '%s': input %d must be int32, it is %s", name(), i, dataTypeName(tensor.type));
    return {tensor.known<int32_t>(), static_cast<size_t>(tensor.elements())};
}

std::vector<int64_t> ShapeContext::ints(int i) const {
    const std::span<const int32_t> values = intSpan(i);
    return {values.begin(), values.end()};
}

int64_t ShapeContext::intAt(int i, int64_t index) const {
    const Tensor& tensor = knownInput(*this, i);
    if (tensor.type != DataType::Int32)
        fail(Status::BadType, "op '%s': input %d must be int32, it is %s", name(), i, dataTypeName(tensor.type));
    if (index < 0 || index >= tensor.elements())
        fail(Status::ComputeSizeError, "op '%s': element %lld of input %d is needed, it has %lld", name(),
             asLong(index), i, asLong(tensor.elements()));
    return tensor.known<int32_t>()[index];
}

std::span<const float> ShapeContext::floats(int i) const {
    const Tensor& tensor = knownInput(*this, i);
    if (tensor.type != DataType::Float32)
        fail(Status::BadType, "op '%s': input %d must be float32, it is %s", name(), i, dataTypeName(tensor.type));
    return {tensor.known<float>(), static_cast<size_t>(tensor.elements())};
}

void GeometryContext::raster(Tensor* output, std::vector<Tensor*> inputs, std::vector<Region> regions,
                             std::string name) {
    ValueCommand command;
    command.type = OpType::Raster;
    command.name = std::move(name);
    command.inputs = std::move(inputs);
    command.outputs = {output};
    command.regions = std::move(regions);
    emit(std::move(command));
}

void GeometryContext::copyLinear(Tensor* output, Tensor* input, std::string name) {
    Region whole;
    whole.size[2] = output->elements();
    raster(output, {input}, {whole}, std::move(name));
}

ValueCommand OpContext::command() const {
    ValueCommand result;
    result.type = node.type;
    result.name = node.name;
    result.params = node.params;
    result.inputs.assign(inputs.begin(), inputs.end());
    result.outputs.assign(outputs.begin(), outputs.end());
    return result;
}

void copyShapes(const ShapeContext& context) {
    const size_t outputs = context.outputs.size();
    if (context.inputs.empty() || (outputs != 1 && outputs != context.inputs.size()))
        fail(Status::ComputeSizeError, "op '%s': %zu inputs cannot shape %zu outputs", context.name(),
             context.inputs.size(), outputs);
    for (size_t i = 0; i < outputs; ++i) {
        context.outputs[i]->shape = context.inputs[i]->shape;
        context.outputs[i]->type = context.inputs[i]->type;
        context.outputs[i]->format = context.inputs[i]->format;
        context.outputs[i]->list = context.inputs[i]->list;
    }
}

}  // namespace mnnc
