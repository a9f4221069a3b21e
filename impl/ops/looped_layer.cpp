// Shapes, constants and commands of recurrent layers that a converter wrote as loops.
#include "ops/looped_layer.h"

#include "ops/op_helpers.h"
#include "ops/recurrent.h"
#include "tensor/region_builder.h"

namespace mnnc {

std::shared_ptr<const void> ConvolutionContent::load() const {
    const std::lock_guard lock(mutex_);
    if (auto content = loaded_.lock()) return content;
    const auto read = std::make_shared<const FloatView>(
        params_->weights(checkedMul(outputs(), inputs(), name_.c_str()), outputs(), name_.c_str()));
    std::shared_ptr<const void> content(read, read->data());
    loaded_ = content;
    return content;
}

FloatSource ConvolutionContent::floats() const {
    return params_->weightSource(checkedMul(outputs(), inputs(), name_.c_str()), outputs(), name_.c_str());
}

Tensor* modelConstant(const OpContext& context, const Shape& shape, const std::vector<float>& values) {
    Tensor* tensor = context.geometry.temporary(shape, DataType::Float32, Format::NCHW);
    context.geometry.constant(tensor, values.data());
    tensor->usage = Usage::Constant;
    return tensor;
}

namespace {

const LoopedLayer& layerOf(const ShapeContext& context) {
    return *context.node.paramsAs<RecurrentParams>().looped;
}

bool isGru(const ShapeContext& context) {
    return context.node.type == OpType::RNNSequenceGRU;
}

// Makes a constant whose weights stay in the file.
Tensor* weights(const OpContext& context, const std::shared_ptr<const ConvolutionContent>& content) {
    Tensor* tensor =
        context.geometry.temporary({1, content->outputs(), content->inputs()}, DataType::Float32, Format::NCHW);
    tensor->usage = Usage::Constant;
    tensor->hasConstantValue = true;
    tensor->stored = content.get();
    tensor->content = content;
    return tensor;
}

Tensor* bias(const OpContext& context, const LoopedLayer& layer) {
    const FloatView inputs = layer.inputs->bias(), states = layer.states->bias();
    std::vector<float> sums(inputs.size());
    for (size_t i = 0; i < sums.size(); ++i) sums[i] = inputs[i] + states[i];
    return modelConstant(context, {1, layer.inputs->outputs()}, sums);
}

Tensor* bias(const OpContext& context, const ConvolutionContent& content) {
    const FloatView values = content.bias();
    return modelConstant(context, {content.outputs()}, {values.span().begin(), values.span().end()});
}

// Returns the sequence in the order of the loop.
Tensor* sequence(const OpContext& context) {
    Tensor* x = context.inputs[0];
    if (!layerOf(context).backwards) return x;
    const int64_t steps = x->shape[0], row = x->shape[1] * x->shape[2];
    Tensor* turned = context.geometry.temporary(x->shape, x->type, x->format);
    const BoxAxis axes[] = {{steps, -row, row}, {row, 1, 1}};
    RegionBuilder builder(context.name());
    builder.box(0, (steps - 1) * row, 0, axes);
    context.geometry.raster(turned, {x}, builder.take(), context.node.name);
    return turned;
}

// First states with one row are repeated for all rows.
Tensor* firstStates(const OpContext& context, size_t input) {
    Tensor* given = context.inputs[input];
    const int64_t batch = context.in(0).shape[1], hidden = context.node.paramsAs<RecurrentParams>().hidden;
    if (given->elements() == batch * hidden) return given;
    Tensor* all = context.geometry.temporary({1, batch, hidden}, DataType::Float32, Format::NCHW);
    const BoxAxis axes[] = {{batch, 0, hidden}, {hidden, 1, 1}};
    RegionBuilder builder(context.name());
    builder.box(0, 0, 0, axes);
    context.geometry.raster(all, {given}, builder.take(), context.node.name);
    return all;
}

}  // namespace

void shapeLoopedLayer(const ShapeContext& context) {
    const LoopedLayer& layer = layerOf(context);
    const int64_t hidden = context.node.paramsAs<RecurrentParams>().hidden;
    const Shape& x = context.in(0).shape;
    if (x.rank() != 3 || x[2] != layer.inputs->inputs())
        fail(Status::ComputeSizeError, "op '%s': its input is %s, [steps, batch, %lld] is needed", context.name(),
             x.text().c_str(), asLong(layer.inputs->inputs()));
    const int64_t states = checkedMul(x[1], hidden, context.name());
    for (int i = 1; i < context.inputCount(); ++i) {
        const Shape& first = context.in(i).shape;
        const bool fits = first.elements() == states || first.elements() == hidden;
        if (!fits || (isGru(context) && !(first == Shape{first.at(0), hidden, 1, 1})))
            fail(Status::ComputeSizeError, "op '%s': first states of shape %s do not fit %lld rows of %lld values",
                 context.name(), first.text().c_str(), asLong(x[1]), asLong(hidden));
    }
    for (int i = 0; i < static_cast<int>(context.outputs.size()); ++i) {
        Shape shape = isGru(context) ? Shape{x[1], hidden, 1, 1} : Shape{1, x[1], hidden};
        if (i == 0) shape.insert(0, x[0]);
        context.set(i, shape, DataType::Float32, Format::NCHW);
    }
}

void geometryLoopedLayer(const OpContext& context) {
    const LoopedLayer& layer = layerOf(context);
    ValueCommand command = context.command();
    if (isGru(context))
        command.inputs = {sequence(context), weights(context, layer.inputs), bias(context, *layer.inputs),
                          weights(context, layer.states), bias(context, *layer.states)};
    else
        command.inputs = {sequence(context), weights(context, layer.inputs), weights(context, layer.states),
                          bias(context, layer)};
    for (size_t i = 1; i < context.inputs.size(); ++i) command.inputs.push_back(firstStates(context, i));
    context.geometry.emit(std::move(command));
}

// Counts two operations for each weight and each row that is multiplied by it.
double loopedLayerFlops(const ShapeContext& context) {
    const LoopedLayer& layer = layerOf(context);
    const Shape& x = context.in(0).shape;
    return 2.0 * static_cast<double>(x[0]) * static_cast<double>(x[1]) * static_cast<double>(layer.inputs->outputs()) *
           static_cast<double>(layer.inputs->inputs() + layer.states->inputs());
}

}  // namespace mnnc
