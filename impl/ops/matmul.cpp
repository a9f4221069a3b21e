// MatMul and BatchMatMul (one rule for both, NumPy semantics) and InnerProduct.
#include "ops/matmul.h"

#include <cstring>

#include "model/model.h"
#include "model/wire_access.h"
#include "ops/families.h"

namespace mnnc {

MatMulSizes matMulSizes(const MatMulParams& params, const Shape& a, const Shape& b, const char* what) {
    if (a.rank() < 1 || b.rank() < 1)
        fail(Status::ComputeSizeError, "op '%s': a scalar cannot be multiplied as a matrix (%s x %s)", what,
             a.text().c_str(), b.text().c_str());
    MatMulSizes sizes;
    Shape left = a, right = b;
    if (a.rank() == 1) left.insert(0, 1);
    if (b.rank() == 1) right.push(1);
    sizes.transposeA = params.transposeA && a.rank() > 1;
    sizes.transposeB = params.transposeB && b.rank() > 1;
    const int ra = left.rank(), rb = right.rank();
    sizes.e = left[sizes.transposeA ? ra - 1 : ra - 2];
    sizes.l = left[sizes.transposeA ? ra - 2 : ra - 1];
    sizes.h = right[sizes.transposeB ? rb - 2 : rb - 1];
    const int64_t inner = right[sizes.transposeB ? rb - 1 : rb - 2];
    if (inner != sizes.l)
        fail(Status::ComputeSizeError, "op '%s': %s%s x %s%s: the inner extents %lld and %lld differ", what,
             a.text().c_str(), sizes.transposeA ? " transposed" : "", b.text().c_str(),
             sizes.transposeB ? " transposed" : "", asLong(sizes.l), asLong(inner));
    left.resize(ra - 2);
    right.resize(rb - 2);
    sizes.batchA = left;
    sizes.batchB = right;
    sizes.batch = broadcastShapes(left, right, what);
    sizes.output = sizes.batch;
    if (a.rank() > 1) sizes.output.push(sizes.e);
    if (b.rank() > 1) sizes.output.push(sizes.h);
    return sizes;
}

namespace {

ParamsPtr parseMatMul(const wire::Op& op, const ParseContext&) {
    // An absent table means no transposition; either table may come with either operator.
    auto params = std::make_shared<MatMulParams>();
    if (const wire::MatMul* table = op.main_as_MatMul()) {
        params->transposeA = table->transposeA();
        params->transposeB = table->transposeB();
    } else if (const wire::BatchMatMulParam* batch = op.main_as_BatchMatMulParam()) {
        params->transposeA = batch->adjX();
        params->transposeB = batch->adjY();
    }
    return params;
}

void shapeMatMul(const ShapeContext& context) {
    for (int i = 0; i < context.inputCount(); ++i)
        if (context.in(i).type != DataType::Float32)
            fail(Status::ComputeSizeError, "op '%s': input %d is %s; matrices must be float32", context.name(), i,
                 dataTypeName(context.in(i).type));
    const MatMulSizes sizes =
        matMulSizes(context.node.paramsAs<MatMulParams>(), context.in(0).shape, context.in(1).shape, context.name());
    if (context.inputCount() > 2 && context.in(2).elements() != sizes.h)
        fail(Status::ComputeSizeError, "op '%s': a bias of %s does not fit rows of %lld", context.name(),
             context.in(2).shape.text().c_str(), asLong(sizes.h));
    context.set(0, sizes.output);
}

double matMulFlops(const ShapeContext& context) {
    const MatMulSizes sizes =
        matMulSizes(context.node.paramsAs<MatMulParams>(), context.in(0).shape, context.in(1).shape, context.name());
    return 2.0 * static_cast<double>(sizes.output.elements()) * static_cast<double>(sizes.l);
}

ParamsPtr parseInnerProduct(const wire::Op& op, const ParseContext& context) {
    const wire::InnerProduct* table = op.main_as_InnerProduct();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s' carries no InnerProduct table", name);
    const int64_t weights = vectorSize(table->weight());
    const int64_t outputs = table->outputCount();
    if (weights == 0) fail(Status::BadWeights, "op '%s': InnerProduct has no weights", name);
    if (outputs < 1 || weights % outputs != 0 || weights / outputs > INT32_MAX)
        fail(Status::BadParameter, "op '%s': %lld weights cannot be divided into %lld outputs", name, asLong(weights),
             asLong(outputs));
    auto params = std::make_shared<InnerProductParams>();
    params->outputs = static_cast<int>(outputs);
    params->inputs = static_cast<int>(weights / outputs);
    params->axis = table->axis();
    const HeldBytes held = bytesOf(table->weight(), &context.model.bytes()).read();
    params->weight.resize(static_cast<size_t>(weights));
    std::memcpy(params->weight.data(), held.bytes.data(), held.bytes.size());
    if (vectorSize(table->bias()) != 0) {
        if (vectorSize(table->bias()) != outputs)
            fail(Status::BadWeights, "op '%s': the bias has %lld values, one for each of %lld outputs is needed", name,
                 asLong(vectorSize(table->bias())), asLong(outputs));
        params->bias.assign(table->bias()->begin(), table->bias()->end());
    }
    return params;
}

// Axes from this one on form a row (Caffe, InnerProductParameter.axis). The format's default 0 stands for Caffe's
// default 1.
int innerProductAxis(const InnerProductParams& params, int rank, const char* what) {
    if (rank == 2 || params.axis == 0) return 1;
    return normalizeAxis(params.axis, rank, what);
}

void shapeInnerProduct(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<InnerProductParams>();
    const Tensor& input = context.in(0);
    if (input.type != DataType::Float32)
        fail(Status::ComputeSizeError, "op '%s': the input is %s; it must be float32", context.name(),
             dataTypeName(input.type));
    const Shape& shape = input.shape;
    if (shape.rank() > 2 && input.format == Format::NHWC)
        fail(Status::NotSupported, "op '%s': InnerProduct of a tensor of %s in NHWC order is not supported",
             context.name(), shape.text().c_str());
    const int axis = shape.rank() < 2 ? shape.rank() : innerProductAxis(*params, shape.rank(), context.name());
    if (shape.elements(axis, shape.rank()) != params->inputs || axis == shape.rank())
        fail(Status::ComputeSizeError, "op '%s': the input is %s, rows of %d are expected", context.name(),
             shape.text().c_str(), params->inputs);
    Shape output = shape;
    output.resize(axis);
    output.push(params->outputs);
    context.set(0, output);
}

// Lowers inputs of other ranks than 2 to a product of matrices.
void lowerInnerProduct(const OpContext& context) {
    ValueCommand command = context.command();
    if (context.in(0).shape.rank() == 2) return context.geometry.emit(std::move(command));
    const auto& params = context.node.paramsAs<InnerProductParams>();
    Tensor* output = context.outputs[0];
    const int64_t rows = output->shape.elements(0, output->shape.rank() - 1);
    Tensor* before = context.geometry.temporary(Shape{rows, params.inputs}, DataType::Float32, Format::NCHW);
    Tensor* after = context.geometry.temporary(Shape{rows, params.outputs}, DataType::Float32, Format::NCHW);
    context.geometry.copyLinear(before, context.inputs[0], context.node.name);
    command.inputs = {before};
    command.outputs = {after};
    context.geometry.emit(std::move(command));
    context.geometry.copyLinear(output, after, context.node.name);
}

double innerProductFlops(const ShapeContext& context) {
    return 2.0 * static_cast<double>(context.in(0).elements()) * context.node.paramsAs<InnerProductParams>().outputs;
}

}  // namespace

constexpr OpDef kMatmulOps[] = {
    {.type = OpType::MatMul, .parse = parseMatMul, .shape = shapeMatMul, .flops = matMulFlops},
    {.type = OpType::BatchMatMul, .parse = parseMatMul, .shape = shapeMatMul, .flops = matMulFlops},
    {.type = OpType::InnerProduct,
     .parse = parseInnerProduct,
     .shape = shapeInnerProduct,
     .geometry = lowerInnerProduct,
     .flops = innerProductFlops},
};
extern constinit const OpFamily matmulOps = kMatmulOps;

}  // namespace mnnc
