// SplitGeLU, the gated unit of feed-forward layers (Shazeer, "GLU Variants Improve Transformer", arXiv 2002.05202): the
// first half of the last axis times gelu of the second half. A second input is added to the whole input first.
#include "ops/binary.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "ops/unary.h"
#include "tensor/region_builder.h"

namespace mnnc {
namespace {

void shapeSplitGelu(const ShapeContext& context) {
    if (context.inputCount() > 2 || context.outputs.size() != 1)
        fail(Status::NotSupported, "op '%s': SplitGeLU with %d inputs and %zu outputs is not supported", context.name(),
             context.inputCount(), context.outputs.size());
    for (int i = 0; i < context.inputCount(); ++i)
        if (context.in(i).type != DataType::Float32)
            fail(Status::NotSupported, "op '%s': SplitGeLU needs float32, input %d is %s", context.name(), i,
                 dataTypeName(context.in(i).type));
    Shape shape = context.in(0).shape;
    const int last = shape.rank() - 1;
    if (last < 0 || shape[last] % 2 != 0)
        fail(Status::ComputeSizeError, "op '%s': the last axis of %s has no halves", context.name(),
             shape.text().c_str());
    if (context.inputCount() == 2 && (context.in(1).elements() != shape[last] || context.in(1).shape.rank() == 0))
        fail(Status::ComputeSizeError, "op '%s': input 1 is %s, %lld values are expected", context.name(),
             context.in(1).shape.text().c_str(), asLong(shape[last]));
    shape[last] /= 2;
    context.set(0, shape);
}

void emit(const OpContext& context, OpType type, ParamsPtr params, std::vector<Tensor*> inputs, Tensor* output) {
    ValueCommand command;
    command.type = type;
    command.name = context.node.name;
    command.params = std::move(params);
    command.inputs = std::move(inputs);
    command.outputs = {output};
    context.geometry.emit(std::move(command));
}

void emitBinaryInto(const OpContext& context, int code, Tensor* a, Tensor* b, Tensor* output) {
    auto params = std::make_shared<BinaryParams>();
    params->code = code;
    emit(context, OpType::BinaryOp, std::move(params), {a, b}, output);
}

// Returns one half of the last axis as a separate tensor.
Tensor* half(const OpContext& context, Tensor* whole, int64_t from) {
    const Tensor& output = context.out(0);
    Tensor* part = context.geometry.temporary(output.shape, output.type, output.format);
    const int64_t length = output.shape[output.shape.rank() - 1];
    const BoxAxis axes[] = {{output.elements() / length, 2 * length, length}, {length, 1, 1}};
    RegionBuilder builder(context.name());
    builder.box(0, from, 0, axes);
    context.geometry.raster(part, {whole}, builder.take(), context.node.name);
    return part;
}

void lowerSplitGelu(const OpContext& context) {
    Tensor* output = context.outputs[0];
    if (output->empty()) return;
    Tensor* whole = context.inputs[0];
    if (context.inputCount() == 2) {
        // The values along the last axis, with a shape that broadcasts to every rank.
        Tensor* added = context.geometry.temporary(Shape{context.in(1).elements()}, whole->type, whole->format);
        context.geometry.copyLinear(added, context.inputs[1], context.node.name);
        Tensor* sum = context.geometry.temporary(whole->shape, whole->type, whole->format);
        emitBinaryInto(context, kBinaryAdd, whole, added, sum);
        whole = sum;
    }
    const int64_t length = output->shape[output->shape.rank() - 1];
    Tensor* gate = context.geometry.temporary(output->shape, output->type, output->format);
    auto gelu = std::make_shared<UnaryParams>();
    gelu->code = kUnaryGeluStandard;
    Tensor* first = half(context, whole, 0);
    emit(context, OpType::UnaryOp, std::move(gelu), {half(context, whole, length)}, gate);
    emitBinaryInto(context, kBinaryMul, first, gate, output);
}

}  // namespace

constexpr OpDef kSplitGeluOps[] = {
    {.type = OpType::SplitGeLU, .shape = shapeSplitGelu, .geometry = lowerSplitGelu},
};
extern constinit const OpFamily splitGeluOps = kSplitGeluOps;

}  // namespace mnnc
