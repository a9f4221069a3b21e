// ReLU, ReLU6 (a general clip), PReLU (He et al., arXiv 1502.01852), ELU (Clevert et al., arXiv 1511.07289), Selu
// (Klambauer et al., arXiv 1706.02515) and Threshold.
#include "ops/activation.h"
#include "model/wire_access.h"
#include "ops/binary.h"
#include "ops/channel_axis.h"
#include "ops/families.h"

namespace mnnc {
namespace {

ParamsPtr parseRelu(const wire::Op& op, const ParseContext&) {
    auto params = std::make_shared<ReluParams>();
    if (const wire::Relu* table = op.main_as_Relu()) params->slope = table->slope();
    return params;
}

ParamsPtr parseRelu6(const wire::Op& op, const ParseContext&) {
    auto params = std::make_shared<ClipParams>();
    if (const wire::Relu6* table = op.main_as_Relu6()) {
        params->lo = table->minValue();
        params->hi = table->maxValue();
    }
    return params;
}

ParamsPtr parsePRelu(const wire::Op& op, const ParseContext& context) {
    const wire::PRelu* table = op.main_as_PRelu();
    const char* name = context.node.name.c_str();
    if (!table || !table->slope() || table->slope()->size() == 0)
        fail(Status::BadParameter, "op '%s': PReLU has no slopes", name);
    auto params = std::make_shared<PReluParams>();
    params->slopes.assign(table->slope()->begin(), table->slope()->end());
    const int64_t stored = static_cast<int64_t>(params->slopes.size());
    if (table->slopeCount() < 1 || table->slopeCount() > stored)
        fail(Status::BadParameter, "op '%s': slopeCount is %d, the table holds %lld slopes", name, table->slopeCount(),
             asLong(stored));
    params->slopes.resize(static_cast<size_t>(table->slopeCount()));
    return params;
}

ParamsPtr parseElu(const wire::Op& op, const ParseContext& context) {
    const wire::ELU* table = op.main_as_ELU();
    if (!table) fail(Status::BadParameter, "op '%s': the ELU parameter table is missing", context.node.name.c_str());
    auto params = std::make_shared<EluParams>();
    params->alpha = table->alpha();
    return params;
}

ParamsPtr parseSelu(const wire::Op& op, const ParseContext& context) {
    const wire::Selu* table = op.main_as_Selu();
    if (!table) fail(Status::BadParameter, "op '%s': the Selu parameter table is missing", context.node.name.c_str());
    auto params = std::make_shared<EluParams>();
    params->alpha = table->alpha();
    params->scale = table->scale();
    return params;
}

// On integers ReLU is a maximum with 0; floats have a separate kernel.
void geometryRelu(const OpContext& context) {
    if (context.in(0).type != DataType::Int32 || context.node.paramsAs<ReluParams>().slope != 0) {
        context.geometry.emit(context.command());
        return;
    }
    Tensor* zero = context.geometry.temporary(Shape(), DataType::Int32, context.in(0).format);
    const int32_t value = 0;
    context.geometry.constant(zero, &value);
    auto params = std::make_shared<BinaryParams>();
    params->code = kBinaryMaximum;
    ValueCommand command = context.command();
    command.type = OpType::BinaryOp;
    command.params = std::move(params);
    command.inputs.push_back(zero);
    context.geometry.emit(std::move(command));
}

void shapePRelu(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<PReluParams>();
    if (params->slopes.size() != 1) checkChannels(context, static_cast<int64_t>(params->slopes.size()), "PReLU");
    copyShapes(context);
}

}  // namespace

constexpr OpDef kActivationOps[] = {
    {.type = OpType::ReLU, .parse = parseRelu, .geometry = geometryRelu},
    {.type = OpType::ReLU6, .parse = parseRelu6},
    {.type = OpType::PReLU, .parse = parsePRelu, .shape = shapePRelu},
    {.type = OpType::ELU, .parse = parseElu},
    {.type = OpType::Selu, .parse = parseSelu},
    {.type = OpType::Threshold, .parse = parseElu},
};
extern constinit const OpFamily activationOps = kActivationOps;

}  // namespace mnnc
