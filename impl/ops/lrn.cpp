// LRN: local response normalisation (Krizhevsky, Sutskever and Hinton, "ImageNet Classification with Deep Convolutional
// Neural Networks", 2012), over channels or within them.
#include "ops/lrn.h"

#include "model/model.h"
#include "model/wire_access.h"
#include "ops/families.h"

namespace mnnc {
namespace {

ParamsPtr parseLrn(const wire::Op& op, const ParseContext& context) {
    const wire::LRN* table = op.main_as_LRN();
    const char* name = context.node.name.c_str();
    if (!table) fail(Status::BadParameter, "op '%s' carries no LRN table", name);
    if (table->regionType() != 0 && table->regionType() != 1)
        fail(Status::BadParameter, "op '%s': LRN region type %d is unknown", name, table->regionType());
    if (table->localSize() < 1 || table->localSize() > 1 << 15)
        fail(Status::BadParameter, "op '%s': the LRN window is %d, 1 to 32768 are possible", name, table->localSize());
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
        fail(Status::ComputeSizeError, "op '%s': LRN needs a rank 4 input in NCHW order, it is %s %s", context.name(),
             formatName(input.format), input.shape.text().c_str());
    context.set(0, input.shape);
}

double lrnFlops(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<LrnParams>();
    const double window = params->withinChannel ? 1.0 * params->localSize * params->localSize : params->localSize;
    return (2 * window + 4) * static_cast<double>(context.in(0).elements());
}

}  // namespace

constexpr OpDef kLrnOps[] = {
    {.type = OpType::LRN, .parse = parseLrn, .shape = shapeLrn, .flops = lrnFlops},
};
extern constinit const OpFamily lrnOps = kLrnOps;

}  // namespace mnnc
