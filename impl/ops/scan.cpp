// CumSum, CumProd, MatrixBandPart.
#include "ops/scan.h"

#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

struct WireScan : ParamsOf<WireScan> {
    int64_t axis = 0;
    bool exclusive = false, reverse = false;
};

ParamsPtr parseScan(const wire::Op& op, const ParseContext&) {
    auto params = std::make_shared<WireScan>();
    if (const wire::CumSum* table = op.main_as_CumSum()) {
        params->exclusive = table->exclusive();
        params->reverse = table->reverse();
    } else if (const wire::Axis* axis = op.main_as_Axis()) {
        params->axis = axis->axis();
    }
    return params;
}

int scanAxis(const ShapeContext& context) {
    const int64_t axis =
        context.node.type == OpType::CumSum ? context.intAt(1) : context.node.paramsAs<WireScan>().axis;
    return normalizeAxis(axis, context.in(0).shape.rank(), context.name());
}

void shapeScan(const ShapeContext& context) {
    const DataType type = context.in(0).type;
    if (type != DataType::Float32 && type != DataType::Int32)
        fail(Status::NotSupported, "op '%s': a scan over %s is not supported", context.name(), dataTypeName(type));
    scanAxis(context);
    context.set(0, context.in(0).shape);
}

void geometryScan(const OpContext& context) {
    const AxisSplit split(context.in(0).shape, scanAxis(context));
    auto params = std::make_shared<ScanParams>();
    params->outer = split.outer;
    params->extent = split.axis;
    params->inner = split.inner;
    params->exclusive = context.node.paramsAs<WireScan>().exclusive;
    params->reverse = context.node.paramsAs<WireScan>().reverse;
    ValueCommand command = context.command();
    command.params = std::move(params);
    command.inputs.resize(1);
    context.geometry.emit(std::move(command));
}

void shapeBandPart(const ShapeContext& context) {
    const Tensor& input = context.in(0);
    if (input.shape.rank() < 2)
        fail(Status::ComputeSizeError, "op '%s' needs a matrix, its input is %s", context.name(),
             input.shape.text().c_str());
    if (input.type != DataType::Float32)
        fail(Status::NotSupported, "op '%s': MatrixBandPart of %s is not supported", context.name(),
             dataTypeName(input.type));
    for (const int i : {1, 2}) {
        requireInt32(context, i);
        if (context.in(i).empty()) fail(Status::ComputeSizeError, "op '%s': input %d is empty", context.name(), i);
    }
    context.set(0, input.shape);
}

}  // namespace

constexpr OpDef kScanOps[] = {
    {.type = OpType::CumSum,
     .parse = parseScan,
     .shape = shapeScan,
     .geometry = geometryScan,
     .valueInputs = contentOfInput1},
    {.type = OpType::CumProd, .parse = parseScan, .shape = shapeScan, .geometry = geometryScan},
    {.type = OpType::MatrixBandPart, .shape = shapeBandPart},
};
extern constinit const OpFamily scanOps = kScanOps;

}  // namespace mnnc
