// Normalize (Caffe's SSD branch): scales each pixel, or the whole image, to length 1 and multiplies by a factor for
// each channel.
#include "ops/normalize.h"

#include "model/model.h"
#include "model/wire_access.h"
#include "ops/channel_axis.h"
#include "ops/families.h"

namespace mnnc {
namespace {

ParamsPtr parseNormalize(const wire::Op& op, const ParseContext& context) {
    const wire::Normalize* table = op.main_as_Normalize();
    const char* name = context.node.name.c_str();
    if (!table || !table->scale() || table->scale()->size() == 0)
        fail(Status::BadParameter, "op '%s': Normalize has no scale values", name);
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

}  // namespace

constexpr OpDef kNormalizeOps[] = {
    {.type = OpType::Normalize, .parse = parseNormalize, .shape = shapeNormalize, .flops = flopsPerInput<5>},
};
extern constinit const OpFamily normalizeOps = kNormalizeOps;

}  // namespace mnnc
