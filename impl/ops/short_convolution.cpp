// Shapes and commands of LinearAttention of type short_conv.
#include "ops/short_convolution.h"

#include <climits>
#include <memory>

#include "base/checked.h"
#include "ops/op_helpers.h"

namespace mnnc {
namespace {

ShortConvolutionForm shortConvolutionForm(const ShapeContext& context) {
    const char* name = context.name();
    if (context.inputCount() != 4 || context.outputs.size() != 1)
        fail(Status::NotSupported,
             "op '%s': LinearAttention with %d inputs and %zu outputs is not supported; a short convolution needs "
             "projections, gates, factors and weights",
             name, context.inputCount(), context.outputs.size());
    for (const int i : {0, 3})
        if (context.in(i).type != DataType::Float32)
            fail(Status::ComputeSizeError, "op '%s': input %d is %s; it must be float32", name, i,
                 dataTypeName(context.in(i).type));
    const Shape &projections = context.in(0).shape, &weights = context.in(3).shape;
    if (weights.rank() != 3 || weights[0] < 1 || weights[1] != 1 || weights[2] < 1)
        fail(Status::ComputeSizeError, "op '%s': weights are %s, [channels, 1, taps] is needed", name,
             weights.text().c_str());
    const int64_t channels = weights[0], columns = checkedMul(channels, 3, name);
    if (projections.rank() != 4 || projections[1] != columns ||
        projections.elements() != checkedMul(projections[0], columns, name))
        fail(Status::ComputeSizeError,
             "op '%s': projections are %s, three numbers for each of %lld channels and extents of 1 behind them are "
             "needed",
             name, projections.text().c_str(), asLong(channels));
    if (weights[2] == 1)
        fail(Status::NotSupported,
             "op '%s': a short convolution with one tap is not supported, because it keeps no state", name);
    checkedMul(channels, weights[2], name);
    if (projections[0] > INT_MAX || columns > INT_MAX || weights[2] > INT_MAX)
        fail(Status::Overflow, "op '%s': an extent exceeds 2^31 - 1", name);
    ShortConvolutionForm form;
    form.rows = static_cast<int>(projections[0]);
    form.channels = static_cast<int>(channels);
    form.taps = static_cast<int>(weights[2]);
    return form;
}

}  // namespace

void shapeShortConvolution(const ShapeContext& context) {
    const ShortConvolutionForm form = shortConvolutionForm(context);
    context.set(0, Shape{form.rows, form.channels, 1, 1}, DataType::Float32, Format::NC4HW4);
}

void emitShortConvolution(const OpContext& context) {
    auto form = std::make_shared<ShortConvolutionForm>(shortConvolutionForm(context));
    form->tensor = context.out(0).number;
    ValueCommand command = context.command();
    command.inputs = {command.inputs[0], command.inputs[3]};
    command.params = std::move(form);
    context.geometry.emit(std::move(command));
}

double shortConvolutionFlops(const ShapeContext& context) {
    const ShortConvolutionForm form = shortConvolutionForm(context);
    return 2.0 * form.rows * form.channels * (form.taps + 1);
}

}  // namespace mnnc
