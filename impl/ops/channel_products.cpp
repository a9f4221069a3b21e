// SpatialProduct: multiplies every channel of a map by a map of one channel. CosineSimilarity: the cosine of the angle
// between the vectors along an axis of two tensors.
#include "ops/channel_products.h"

#include "ops/binary.h"
#include "ops/channel_axis.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

void requireFloatOperands(const ShapeContext& context) {
    for (const int i : {0, 1})
        if (context.in(i).type != DataType::Float32)
            fail(Status::NotSupported, "op '%s': input %d of %s is not implemented", context.name(), i,
                 dataTypeName(context.in(i).type));
}

void shapeSpatialProduct(const ShapeContext& context) {
    requireFloatOperands(context);
    const Tensor &x = context.in(0), &map = context.in(1);
    Shape expected = x.shape;
    if (expected.rank() >= 2) expected[channelAxis(x)] = 1;
    const bool sameOrder = (map.format == Format::NHWC) == (x.format == Format::NHWC);
    if (expected.rank() < 2 || !(map.shape == expected) || !sameOrder)
        fail(Status::ComputeSizeError, "op '%s': the map %s does not have one channel for each place of %s",
             context.name(), map.shape.text().c_str(), x.shape.text().c_str());
    context.set(0, x.shape);
}

void geometrySpatialProduct(const OpContext& context) {
    auto params = std::make_shared<BinaryParams>();
    params->code = kBinaryMul;
    ValueCommand command = context.command();
    command.type = OpType::BinaryOp;
    command.params = std::move(params);
    context.geometry.emit(std::move(command));
}

int cosineAxis(const ShapeContext& context) {
    return normalizeAxis(context.intAt(2), context.in(0).shape.rank(), context.name());
}

void shapeCosine(const ShapeContext& context) {
    requireFloatOperands(context);
    if (!(context.in(0).shape == context.in(1).shape))
        fail(Status::ComputeSizeError, "op '%s': its inputs are %s and %s, equal shapes are needed", context.name(),
             context.in(0).shape.text().c_str(), context.in(1).shape.text().c_str());
    Shape out = context.in(0).shape;
    out.erase(cosineAxis(context));
    context.set(0, out);
}

void geometryCosine(const OpContext& context) {
    const AxisSplit split(context.in(0).shape, cosineAxis(context));
    auto params = std::make_shared<CosineParams>();
    params->outer = split.outer;
    params->extent = split.axis;
    params->inner = split.inner;
    ValueCommand command = context.command();
    command.params = std::move(params);
    command.inputs.resize(2);
    context.geometry.emit(std::move(command));
}

}  // namespace

constexpr OpDef kChannelProductOps[] = {
    {.type = OpType::SpatialProduct, .shape = shapeSpatialProduct, .geometry = geometrySpatialProduct},
    {.type = OpType::CosineSimilarity,
     .shape = shapeCosine,
     .geometry = geometryCosine,
     .valueInputs = contentOfInput2,
     .flops = flopsPerInput<6>},
};
extern constinit const OpFamily channelProductOps = kChannelProductOps;

}  // namespace mnnc
