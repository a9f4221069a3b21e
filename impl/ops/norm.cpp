// LayerNorm in all its forms, Normalize and LRN.
#include "ops/norm.h"

#include "model/model.h"
#include "model/weights.h"
#include "model/wire_access.h"
#include "ops/binary.h"
#include "ops/channel_axis.h"
#include "ops/families.h"

namespace mnnc {

NormBlocks normBlocks(const LayerNormParams& params, const Shape& shape, const char* what) {
    const int rank = shape.rank();
    if (params.overChannel) {
        if (rank < 2)
            fail(Status::ComputeSizeError,
                 "op '%s': normalising over the channel needs rank 2, the input is %s", what,
                 shape.text().c_str());
        return {shape[0], shape[1], shape.elements(2, rank)};
    }
    const int count = static_cast<int>(params.axes.size());
    if (count == 0) {
        if (params.group <= 1) return {shape.elements(), 1, 1};
        const int64_t perBatch = shape.elements(rank > 0 ? 1 : 0, rank);
        if (rank < 1 || perBatch % params.group != 0)
            fail(Status::ComputeSizeError, "op '%s': %s cannot be cut into %d groups", what,
                 shape.text().c_str(), params.group);
        return {checkedMul(shape[0], params.group, what), perBatch / params.group, 1};
    }
    if (count > rank)
        fail(Status::ComputeSizeError, "op '%s': %d axes are normalised, the input is %s", what, count,
             shape.text().c_str());
    const int first = params.axes.front(), last = params.axes.back();
    if ((first < 0 && last == -1) || last == rank - 1 || rank == 1)
        return {shape.elements(0, rank - count), shape.elements(rank - count, rank), 1};
    // Axes inside: a contiguous, ascending range.
    const int begin = normalizeAxis(first, rank, what), end = normalizeAxis(last, rank, what);
    if (end < begin || end - begin + 1 != count)
        fail(Status::ComputeSizeError, "op '%s': the axes %d..%d (%d of them) are not a contiguous range",
             what, first, last, count);
    return {shape.elements(0, begin), shape.elements(begin, end + 1), shape.elements(end + 1, rank)};
}

namespace {

ParamsPtr parseLayerNorm(const wire::Op& op, const ParseContext& context) {
    const wire::LayerNorm* table = op.main_as_LayerNorm();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s': LayerNorm without its parameter table", name);
    auto params = std::make_shared<LayerNormParams>();
    if (table->axis()) params->axes.assign(table->axis()->begin(), table->axis()->end());
    params->epsilon = table->epsilon();
    params->group = table->group();
    params->rms = table->useRMSNorm();
    params->overChannel = context.node.defaultFormat == Format::NC4HW4;
    const FloatPair arrays = layerNormArrays(*table, context.model.weightFiles(op), name);
    // One without the other is ignored, as in the reference.
    if (!arrays.first.empty() && !arrays.second.empty()) {
        params->gamma.assign(arrays.first.span().begin(), arrays.first.span().end());
        params->beta.assign(arrays.second.span().begin(), arrays.second.span().end());
        if (params->gamma.size() != params->beta.size())
            fail(Status::BadParameter, "op '%s': %zu gamma values but %zu beta values", name,
                 params->gamma.size(), params->beta.size());
    }
    return params;
}

void shapeLayerNorm(const ShapeContext& context) {
    const auto* params = context.node.paramsIf<LayerNormParams>();
    const Tensor& input = context.in(0);
    const size_t outputs = context.outputs.size();
    if (context.inputs.size() != outputs || (outputs == 2 && !(context.in(1).shape == input.shape)))
        fail(Status::ComputeSizeError,
             "op '%s': LayerNorm has one input and one output, or two of one shape and two", context.name());
    const NormBlocks blocks = normBlocks(*params, input.shape, context.name());
    if (!params->gamma.empty() && static_cast<int64_t>(params->gamma.size()) != blocks.length)
        fail(Status::ComputeSizeError, "op '%s': %zu gamma values for blocks of %lld elements (input %s)",
             context.name(), params->gamma.size(), static_cast<long long>(blocks.length),
             input.shape.text().c_str());
    for (size_t i = 0; i < outputs; ++i) context.set(static_cast<int>(i), input.shape);
}

// Two inputs: s = x + r, y = norm(s).
void lowerLayerNorm(const OpContext& context) {
    Command norm = context.command();
    if (context.outputs.size() == 2) {
        auto add = std::make_shared<BinaryParams>();
        Command sum;
        sum.type = OpType::BinaryOp;
        sum.name = context.node.name;
        sum.params = std::move(add);
        sum.inputs = {context.inputs[0], context.inputs[1]};
        sum.outputs = {context.outputs[0]};
        context.geometry.emit(std::move(sum));
        norm.inputs = {context.outputs[0]};
        norm.outputs = {context.outputs[1]};
    }
    context.geometry.emit(std::move(norm));
}

ParamsPtr parseNormalize(const wire::Op& op, const ParseContext& context) {
    const wire::Normalize* table = op.main_as_Normalize();
    const char* name = context.node.name.c_str();
    if (!table || !table->scale() || table->scale()->size() == 0)
        fail(Status::BadParameter, "op '%s': Normalize without scale values", name);
    auto params = std::make_shared<NormalizeParams>();
    params->acrossSpatial = table->acrossSpatial() != 0;
    params->epsilon = table->eps();
    params->scale.assign(table->scale()->begin(), table->scale()->end());
    return params;
}

void shapeNormalize(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<NormalizeParams>();
    if (context.in(0).shape.rank() < 4)
        fail(Status::ComputeSizeError, "op '%s': Normalize needs rank 4, the input is %s", context.name(),
             context.in(0).shape.text().c_str());
    checkChannels(context, static_cast<int64_t>(params->scale.size()), "Normalize");
    context.set(0, context.in(0).shape);
}

ParamsPtr parseLrn(const wire::Op& op, const ParseContext& context) {
    const wire::LRN* table = op.main_as_LRN();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s': LRN without its parameter table", name);
    if (table->regionType() != 0 && table->regionType() != 1)
        fail(Status::BadParameter, "op '%s': LRN region type %d is unknown", name, table->regionType());
    if (table->localSize() < 1 || table->localSize() > 1 << 15)
        fail(Status::BadParameter, "op '%s': LRN window of %d", name, table->localSize());
    auto params = std::make_shared<LrnParams>();
    params->withinChannel = table->regionType() == 1;
    params->localSize = table->localSize();
    params->alpha = table->alpha();
    params->beta = table->beta();
    params->bias = table->bias();
    return params;
}

void shapeLrn(const ShapeContext& context) {
    const Tensor& input = context.in(0);
    if (input.shape.rank() != 4 || input.format == Format::NHWC)
        fail(Status::ComputeSizeError, "op '%s': LRN needs a rank 4 input in NCHW order, it is %s %s",
             context.name(), formatName(input.format), input.shape.text().c_str());
    context.set(0, input.shape);
}

double normFlops(const ShapeContext& context) {
    return 5.0 * static_cast<double>(context.in(0).elements());
}
double lrnFlops(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<LrnParams>();
    const double window =
        params->withinChannel ? 1.0 * params->localSize * params->localSize : params->localSize;
    return (2 * window + 4) * static_cast<double>(context.in(0).elements());
}

}  // namespace

OpFamily normOps() {
    static constexpr OpDef kOps[] = {
        {.type = OpType::LayerNorm,
         .parse = parseLayerNorm,
         .shape = shapeLayerNorm,
         .geometry = lowerLayerNorm,
         .flops = normFlops},
        {.type = OpType::Normalize, .parse = parseNormalize, .shape = shapeNormalize, .flops = normFlops},
        {.type = OpType::LRN, .parse = parseLrn, .shape = shapeLrn, .flops = lrnFlops},
    };
    return kOps;
}

}  // namespace mnnc
