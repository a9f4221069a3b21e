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
             sizes.transposeB ? " transposed" : "", static_cast<long long>(sizes.l),
             static_cast<long long>(inner));
    left.resize(ra - 2);
    right.resize(rb - 2);
    sizes.batchA = left;
    sizes.batchB = right;
    sizes.batch = broadcastShapes(left, right, what);
    sizes.output = sizes.batch;
    if (a.rank() > 1) sizes.output.push(sizes.e);
    if (b.rank() > 1) sizes.output.push(sizes.h);
    if (a.rank() == 1 && b.rank() == 1) sizes.output.push(1);
    return sizes;
}

namespace {

ParamsPtr parseMatMul(const wire::Op& op, const ParseContext&) {
    // Absent tables mean no transposition; either table may come with either type.
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
            fail(Status::ComputeSizeError, "op '%s': input %d is %s; matrices must be float32",
                 context.name(), i, dataTypeName(context.in(i).type));
    const MatMulSizes sizes = matMulSizes(context.node.paramsAs<MatMulParams>(), context.in(0).shape,
                                          context.in(1).shape, context.name());
    if (context.inputCount() > 2 && context.in(2).elements() != sizes.h)
        fail(Status::ComputeSizeError, "op '%s': a bias of %s for rows of %lld", context.name(),
             context.in(2).shape.text().c_str(), static_cast<long long>(sizes.h));
    context.set(0, sizes.output);
}

double matMulFlops(const ShapeContext& context) {
    const MatMulSizes sizes = matMulSizes(context.node.paramsAs<MatMulParams>(), context.in(0).shape,
                                          context.in(1).shape, context.name());
    return 2.0 * static_cast<double>(sizes.output.elements()) * static_cast<double>(sizes.l);
}

ParamsPtr parseInnerProduct(const wire::Op& op, const ParseContext& context) {
    const wire::InnerProduct* table = op.main_as_InnerProduct();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s': InnerProduct without its parameter table", name);
    const int64_t weights = vectorSize(table->weight());
    const int64_t outputs = table->outputCount();
    if (weights == 0) fail(Status::BadWeights, "op '%s': InnerProduct has no weights", name);
    if (outputs < 1 || weights % outputs != 0 || weights / outputs > INT32_MAX)
        fail(Status::BadParameter, "op '%s': %lld weights for %lld outputs", name,
             static_cast<long long>(weights), static_cast<long long>(outputs));
    auto params = std::make_shared<InnerProductParams>();
    params->outputs = static_cast<int>(outputs);
    params->inputs = static_cast<int>(weights / outputs);
    const HeldBytes held = bytesOf(table->weight(), &context.model.bytes()).read();
    params->weight.resize(static_cast<size_t>(weights));
    std::memcpy(params->weight.data(), held.bytes.data(), held.bytes.size());
    if (vectorSize(table->bias()) != 0) {
        if (vectorSize(table->bias()) != outputs)
            fail(Status::BadWeights, "op '%s': %lld bias values for %lld outputs", name,
                 static_cast<long long>(vectorSize(table->bias())), static_cast<long long>(outputs));
        params->bias.assign(table->bias()->begin(), table->bias()->end());
    }
    return params;
}

void shapeInnerProduct(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<InnerProductParams>();
    const Tensor& input = context.in(0);
    if (input.type != DataType::Float32)
        fail(Status::ComputeSizeError, "op '%s': the input is %s; it must be float32", context.name(),
             dataTypeName(input.type));
    if (input.shape.rank() != 2 || input.shape[1] != params->inputs)
        fail(Status::ComputeSizeError, "op '%s': the input is %s, rows of %d are expected", context.name(),
             input.shape.text().c_str(), params->inputs);
    context.set(0, Shape{input.shape[0], params->outputs});
}

double innerProductFlops(const ShapeContext& context) {
    return 2.0 * static_cast<double>(context.in(0).elements()) *
           context.node.paramsAs<InnerProductParams>().outputs;
}

}  // namespace

OpFamily matmulOps() {
    static constexpr OpDef kOps[] = {
        {.type = OpType::MatMul, .parse = parseMatMul, .shape = shapeMatMul, .flops = matMulFlops},
        {.type = OpType::BatchMatMul, .parse = parseMatMul, .shape = shapeMatMul, .flops = matMulFlops},
        {.type = OpType::InnerProduct,
         .parse = parseInnerProduct,
         .shape = shapeInnerProduct,
         .flops = innerProductFlops},
    };
    return kOps;
}

}  // namespace mnnc
