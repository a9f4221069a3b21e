// Scale, BatchNorm (Ioffe and Szegedy, arXiv 1502.03167), which becomes Scale, and InstanceNorm (Ulyanov et al., arXiv
// 1607.08022).
#include <cmath>

#include "model/model.h"
#include "model/table_arrays.h"
#include "model/wire_access.h"
#include "ops/channel_axis.h"
#include "ops/families.h"
#include "ops/scale.h"

namespace mnnc {
namespace {

std::vector<float> floatsOf(const flatbuffers::Vector<float>* values) {
    return values ? std::vector<float>(values->begin(), values->end()) : std::vector<float>();
}

// The array must have `count` values; an absent one is filled with `missing`.
void complete(std::vector<float>& values, size_t count, float missing, const char* what, const char* name) {
    if (values.empty()) values.assign(count, missing);
    if (values.size() != count)
        fail(Status::BadParameter, "op '%s': %s has %zu values, %zu are expected", name, what, values.size(), count);
}

ParamsPtr parseScale(const wire::Op& op, const ParseContext& context) {
    const wire::Scale* table = op.main_as_Scale();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s' carries no Scale table", name);
    const FloatPair arrays = scaleArrays(*table, context.model.weightFiles(op), name);
    auto params = std::make_shared<ScaleParams>();
    params->scale.assign(arrays.first.span().begin(), arrays.first.span().end());
    params->bias.assign(arrays.second.span().begin(), arrays.second.span().end());
    if (params->scale.empty()) fail(Status::BadParameter, "op '%s': Scale has no scale values", name);
    complete(params->bias, params->scale.size(), 0, "biasData", name);
    return params;
}

ParamsPtr parseBatchNorm(const wire::Op& op, const ParseContext& context) {
    const wire::BatchNorm* table = op.main_as_BatchNorm();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s': the BatchNorm parameter table is missing", name);
    std::vector<float> slope = floatsOf(table->slopeData()), bias = floatsOf(table->biasData());
    if (context.node.type == OpType::InstanceNorm) {
        auto params = std::make_shared<InstanceNormParams>();
        if (slope.empty()) fail(Status::BadParameter, "op '%s': InstanceNorm has no slopeData", name);
        complete(bias, slope.size(), 0, "biasData", name);
        params->scale = std::move(slope);
        params->bias = std::move(bias);
        params->epsilon = table->epsilon();
        return params;
    }
    std::vector<float> mean = floatsOf(table->meanData()), variance = floatsOf(table->varData());
    if (variance.empty()) fail(Status::BadParameter, "op '%s': BatchNorm has no varData", name);
    const size_t count = variance.size();
    complete(slope, count, 1, "slopeData", name);
    complete(mean, count, 0, "meanData", name);
    complete(bias, count, 0, "biasData", name);
    auto params = std::make_shared<ScaleParams>();
    params->scale.resize(count);
    params->bias.resize(count);
    for (size_t c = 0; c < count; ++c) {
        const double scale = slope[c] / std::sqrt(static_cast<double>(variance[c]) + table->epsilon());
        params->scale[c] = static_cast<float>(scale);
        params->bias[c] = static_cast<float>(bias[c] - scale * mean[c]);
    }
    return params;
}

void shapeScale(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<ScaleParams>();
    checkChannels(context, static_cast<int64_t>(params->scale.size()), opTypeName(context.node.type));
    context.set(0, context.in(0).shape);
}

void shapeInstanceNorm(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<InstanceNormParams>();
    checkChannels(context, static_cast<int64_t>(params->scale.size()), "InstanceNorm");
    if (context.inputCount() == 2)
        fail(Status::ComputeSizeError, "op '%s': InstanceNorm needs one input, or three with mean and variance",
             context.name());
    const Tensor& input = context.in(0);
    const int64_t rows = checkedMul(input.batch(), static_cast<int64_t>(params->scale.size()), context.name());
    for (int i = 1; i < context.inputCount(); ++i)
        if (context.in(i).elements() != rows || context.in(i).type != DataType::Float32)
            fail(Status::ComputeSizeError, "op '%s': input %d is %s of %s, %lld float32 values are expected",
                 context.name(), i, context.in(i).shape.text().c_str(), dataTypeName(context.in(i).type), asLong(rows));
    context.set(0, input.shape);
}

void toScale(const OpContext& context) {
    ValueCommand command = context.command();
    command.type = OpType::Scale;
    command.inputs.resize(1);
    context.geometry.emit(std::move(command));
}

}  // namespace

constexpr OpDef kScaleOps[] = {
    {.type = OpType::Scale, .parse = parseScale, .shape = shapeScale},
    {.type = OpType::BatchNorm, .parse = parseBatchNorm, .shape = shapeScale, .geometry = toScale},
    {.type = OpType::InstanceNorm, .parse = parseBatchNorm, .shape = shapeInstanceNorm, .flops = flopsPerInput<5>},
};
extern constinit const OpFamily scaleOps = kScaleOps;

}  // namespace mnnc
