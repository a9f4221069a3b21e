// GroupNorm (Wu and He, "Group Normalization", arXiv 1803.08494), followed by an optional SiLU. A second input [batch,
// channels] is added first, which is how nets add the embedding of the time step.
#include "ops/group_norm.h"

#include "model/wire_access.h"
#include "ops/channel_axis.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {
namespace {

ParamsPtr parseGroupNorm(const wire::Op& op, const ParseContext& context) {
    const wire::GroupNorm* table = op.main_as_GroupNorm();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s' carries no GroupNorm table", name);
    if (table->group() < 1)
        fail(Status::BadParameter, "op '%s' has %d groups, at least 1 is needed", name, table->group());
    if (table->bSwish() != 0 && table->bSwish() != 1)
        fail(Status::BadParameter, "op '%s': bSwish is %d; it must be 0 or 1", name, table->bSwish());
    if (vectorSize(table->external()) != 0)
        fail(Status::NotSupported, "its weights are in another file, for which the format has no rule");
    auto params = std::make_shared<GroupNormParams>();
    params->groups = table->group();
    params->epsilon = table->epsilon();
    params->silu = table->bSwish() != 0;
    if (table->gamma()) params->gamma.assign(table->gamma()->begin(), table->gamma()->end());
    if (table->beta()) params->beta.assign(table->beta()->begin(), table->beta()->end());
    // A missing gamma is 1, a missing beta 0.
    if (params->gamma.empty()) params->gamma.assign(params->beta.size(), 1);
    if (params->beta.empty()) params->beta.assign(params->gamma.size(), 0);
    if (params->gamma.size() != params->beta.size())
        fail(Status::BadParameter, "op '%s' has %zu gamma values but %zu beta values", name, params->gamma.size(),
             params->beta.size());
    return params;
}

void shapeGroupNorm(const ShapeContext& context) {
    const auto& params = context.node.paramsAs<GroupNormParams>();
    const Tensor& input = context.in(0);
    if (context.inputCount() > 2 || context.outputs.size() != 1)
        fail(Status::NotSupported, "op '%s': GroupNorm with %d inputs and %zu outputs is not supported", context.name(),
             context.inputCount(), context.outputs.size());
    for (int i = 0; i < context.inputCount(); ++i)
        if (context.in(i).type != DataType::Float32)
            fail(Status::NotSupported, "op '%s': GroupNorm needs float32, input %d is %s", context.name(), i,
                 dataTypeName(context.in(i).type));
    if (input.shape.rank() < 2)
        fail(Status::ComputeSizeError, "op '%s': GroupNorm needs channels, the input is %s", context.name(),
             input.shape.text().c_str());
    if (channelAxis(input) != 1)
        fail(Status::NotSupported, "op '%s': GroupNorm of a tensor in %s order is not supported", context.name(),
             formatName(input.format));
    const int64_t channels = input.shape[1];
    if (channels % params.groups != 0)
        fail(Status::ComputeSizeError, "op '%s': %lld channels cannot be cut into %d groups", context.name(),
             asLong(channels), params.groups);
    if (!params.gamma.empty()) checkChannels(context, static_cast<int64_t>(params.gamma.size()), "GroupNorm");
    if (context.inputCount() == 2) {
        const Shape& added = context.in(1).shape;
        const bool fits = added.rank() >= 2 && added[0] == input.shape[0] && added[1] == channels &&
                          added.elements() == input.shape.elements(0, 2);
        if (!fits)
            fail(Status::ComputeSizeError, "op '%s': input 1 is %s, one value for each channel of %s is expected",
                 context.name(), added.text().c_str(), input.shape.text().c_str());
    }
    context.set(0, input.shape);
}

}  // namespace

constexpr OpDef kGroupNormOps[] = {
    {.type = OpType::GroupNorm, .parse = parseGroupNorm, .shape = shapeGroupNorm, .flops = flopsPerInput<8>},
};
extern constinit const OpFamily groupNormOps = kGroupNormOps;

}  // namespace mnnc
