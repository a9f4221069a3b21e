// LinearAttention: parameters, shapes and cost of the gated delta rule; the short convolution has a file of its own.
#include "ops/linear_attention.h"

#include <climits>

#include "base/checked.h"
#include "model/wire_access.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "ops/short_convolution.h"

namespace mnnc {
namespace {

constexpr const char *kGatedDeltaRule = "gated_delta_rule", *kShortConvolution = "short_conv";

bool isShortConvolution(const ShapeContext& context) {
    return context.node.paramsAs<LinearAttentionParams>().shortConvolution;
}

ParamsPtr parseLinearAttention(const wire::Op& op, const ParseContext& context) {
    const wire::LinearAttentionParam* table = op.main_as_LinearAttentionParam();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s' carries no LinearAttentionParam table", name);
    const std::string type = table->attn_type() ? table->attn_type()->str() : std::string();
    auto params = std::make_shared<LinearAttentionParams>();
    params->shortConvolution = type == kShortConvolution;
    if (params->shortConvolution) return params;
    if (type != kGatedDeltaRule)
        fail(Status::NotSupported, "its attn_type is '%s'; '%s' and '%s' are supported", type.c_str(), kGatedDeltaRule,
             kShortConvolution);
    if (!table->use_qk_l2norm()) fail(Status::NotSupported, "its queries and keys are not normalised (use_qk_l2norm)");
    if (table->gate_fold() || vectorSize(table->gate_coef()) != 0 || vectorSize(table->gate_bias()) != 0)
        fail(Status::NotSupported, "its gates are computed inside (gate_fold, gate_coef, gate_bias)");
    params->keyHeads = table->num_k_heads();
    params->valueHeads = table->num_v_heads();
    params->keyDepth = table->head_k_dim();
    params->valueDepth = table->head_v_dim();
    for (const int extent : {params->keyHeads, params->valueHeads, params->keyDepth, params->valueDepth})
        if (extent <= 0)
            fail(Status::BadParameter, "op '%s': an extent of LinearAttention is %d, it must be above 0", name, extent);
    if (params->valueHeads % params->keyHeads != 0)
        fail(Status::BadParameter, "op '%s' has %d heads of values, a multiple of its %d heads of keys is needed", name,
             params->valueHeads, params->keyHeads);
    return params;
}

LinearAttentionForm linearAttentionForm(const ShapeContext& context) {
    const auto& params = context.node.paramsAs<LinearAttentionParams>();
    const char* name = context.name();
    if (context.inputCount() != 4 || context.outputs.size() != 1)
        fail(Status::NotSupported,
             "op '%s': LinearAttention with %d inputs and %zu outputs is not supported; projections, gates, factors "
             "and weights are needed",
             name, context.inputCount(), context.outputs.size());
    for (int i = 0; i < 4; ++i)
        if (context.in(i).type != DataType::Float32)
            fail(Status::ComputeSizeError, "op '%s': input %d is %s; it must be float32", name, i,
                 dataTypeName(context.in(i).type));
    const int64_t keys = checkedMul(params.keyHeads, params.keyDepth, name),
                  values = checkedMul(params.valueHeads, params.valueDepth, name),
                  channels = checkedAdd(checkedMul(keys, 2, name), values, name);
    const Shape &projections = context.in(0).shape, &weights = context.in(3).shape;
    const int64_t rows = projections.at(0);
    if (projections.rank() != 4 || projections.elements() != checkedMul(rows, channels, name) ||
        projections[1] != channels)
        fail(Status::ComputeSizeError,
             "op '%s': projections are %s, %lld channels and extents of 1 behind them are needed", name,
             projections.text().c_str(), asLong(channels));
    for (int i = 1; i <= 2; ++i)
        if (context.in(i).elements() != checkedMul(rows, params.valueHeads, name))
            fail(Status::ComputeSizeError,
                 "op '%s': input %d is %s, a number for each of %lld rows and %d heads is needed", name, i,
                 context.in(i).shape.text().c_str(), asLong(rows), params.valueHeads);
    if (weights.rank() != 3 || weights[0] != channels || weights[1] != 1 || weights[2] < 1)
        fail(Status::ComputeSizeError, "op '%s': weights are %s, [%lld, 1, taps] is needed", name,
             weights.text().c_str(), asLong(channels));
    const int64_t matrices = checkedMul(checkedMul(params.keyDepth, params.valueDepth, name), params.valueHeads, name);
    checkedAdd(checkedMul(channels, weights[2], name), matrices, name);
    if (rows > INT_MAX || channels > INT_MAX || weights[2] > INT_MAX)
        fail(Status::Overflow, "op '%s': an extent exceeds 2^31 - 1", name);
    LinearAttentionForm form;
    form.rows = static_cast<int>(rows);
    form.channels = static_cast<int>(channels);
    form.taps = static_cast<int>(weights[2]);
    form.keyHeads = params.keyHeads;
    form.valueHeads = params.valueHeads;
    form.keyDepth = params.keyDepth;
    form.valueDepth = params.valueDepth;
    return form;
}

void shapeLinearAttention(const ShapeContext& context) {
    if (isShortConvolution(context)) return shapeShortConvolution(context);
    const LinearAttentionForm form = linearAttentionForm(context);
    context.set(0, Shape{1, form.rows, form.valueHeads, form.valueDepth}, DataType::Float32, Format::NCHW);
    context.out(0).shape.elements();
}

void emitLinearAttention(const OpContext& context) {
    if (isShortConvolution(context)) return emitShortConvolution(context);
    auto form = std::make_shared<LinearAttentionForm>(linearAttentionForm(context));
    form->tensor = context.out(0).number;
    ValueCommand command = context.command();
    command.params = std::move(form);
    context.geometry.emit(std::move(command));
}

bool keepsState(const Params&) {
    return true;
}

double linearAttentionFlops(const ShapeContext& context) {
    if (isShortConvolution(context)) return shortConvolutionFlops(context);
    const LinearAttentionForm form = linearAttentionForm(context);
    return static_cast<double>(form.rows) *
           (8.0 * form.valueHeads * static_cast<double>(form.matrixNumbers()) + 2.0 * form.channels * form.taps);
}

}  // namespace

constexpr OpDef kLinearAttentionOps[] = {
    {.type = OpType::LinearAttention,
     .parse = parseLinearAttention,
     .shape = shapeLinearAttention,
     .geometry = emitLinearAttention,
     .keeps = keepsState,
     .flops = linearAttentionFlops},
};
extern constinit const OpFamily linearAttentionOps = kLinearAttentionOps;

}  // namespace mnnc
