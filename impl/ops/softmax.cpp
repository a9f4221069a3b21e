// Softmax along one logical axis.
#include "ops/softmax.h"

#include "model/wire_access.h"
#include "ops/families.h"

namespace mnnc {
namespace {

ParamsPtr parseSoftmax(const wire::Op& op, const ParseContext& context) {
    const wire::Axis* table = op.main_as_Axis();
    if (!table) fail(Status::BadParameter, "op '%s' carries no Axis table", context.node.name.c_str());
    auto params = std::make_shared<SoftmaxParams>();
    params->axis = table->axis();
    return params;
}

void shapeSoftmax(const ShapeContext& context) {
    // A scalar counts as a row of one element.
    if (context.in(0).shape.rank() > 0)
        normalizeAxis(context.node.paramsAs<SoftmaxParams>().axis, context.in(0).shape.rank(), context.name());
    context.set(0, context.in(0).shape);
}

}  // namespace

constexpr OpDef kSoftmaxOps[] = {
    {.type = OpType::Softmax, .parse = parseSoftmax, .shape = shapeSoftmax, .flops = flopsPerInput<5>},
};
extern constinit const OpFamily softmaxOps = kSoftmaxOps;

}  // namespace mnnc
