// ROIAlign, ROIPooling and CropAndResize: parameters and shape rules.
// https://onnx.ai/onnx/operators/onnx__RoiAlign.html, https://onnx.ai/onnx/operators/onnx__MaxRoiPool.html,
// https://www.tensorflow.org/api_docs/python/tf/image/crop_and_resize
#include "ops/region.h"

#include <cmath>
#include <limits>

#include "mnn_generated.h"
#include "ops/channel_first.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

constexpr int kMaxPooled = 1 << 20;
constexpr int kMaxSamples = 1024;

std::shared_ptr<RoiParams> parseRegions(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::RoiParameters* table = op.main_as_RoiParameters();
    if (!table) fail(Status::BadParameter, "%s: the parameters of the regions are missing", name);
    auto p = std::make_shared<RoiParams>();
    p->height = table->pooledHeight();
    p->width = table->pooledWidth();
    p->scale = table->spatialScale();
    if (p->height < 1 || p->width < 1 || p->height > kMaxPooled || p->width > kMaxPooled)
        fail(Status::BadParameter, "%s: a region has %d x %d outputs, 1 to %d are possible", name, p->height, p->width,
             kMaxPooled);
    if (!std::isfinite(p->scale))
        fail(Status::BadParameter, "%s: a spatial scale of %g is not finite", name, static_cast<double>(p->scale));
    return p;
}

ParamsPtr parseRoiAlign(const wire::Op& op, const ParseContext& context) {
    auto p = parseRegions(op, context);
    const wire::RoiParameters& table = *op.main_as_RoiParameters();
    const char* name = context.node.name.c_str();
    const int type = static_cast<int>(table.poolType());
    if (type < 0 || type > 1) fail(Status::BadParameter, "%s: the pooling type %d is unknown", name, type);
    if (table.samplingRatio() > kMaxSamples)
        fail(Status::BadParameter, "%s: the sampling ratio is %d, at most %d is possible", name, table.samplingRatio(),
             kMaxSamples);
    if (table.outputGrad() || context.node.inputs.size() > 3)
        fail(Status::NotSupported, "the gradient of ROIAlign is not implemented");
    p->samples = table.samplingRatio() > 0 ? table.samplingRatio() : 0;
    p->aligned = table.aligned();
    p->maximum = table.poolType() == wire::PoolType::MAXPOOL;
    return p;
}

ParamsPtr parseRoiPooling(const wire::Op& op, const ParseContext& context) {
    auto p = parseRegions(op, context);
    if (context.node.inputs.size() > 2) fail(Status::NotSupported, "the gradient of ROIPooling is not implemented");
    return p;
}

ParamsPtr parseCropAndResize(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::CropAndResize* table = op.main_as_CropAndResize();
    if (!table) fail(Status::BadParameter, "%s: the parameters of the crops are missing", name);
    const int method = static_cast<int>(table->method());
    if (method < 0 || method > 1) fail(Status::BadParameter, "%s: the method %d is unknown", name, method);
    auto p = std::make_shared<CropParams>();
    p->nearest = method == 1;
    p->outside = table->extrapolationValue();
    return p;
}

void requireFloat(const ShapeContext& context, int input) {
    if (context.in(input).type != DataType::Float32)
        fail(Status::BadType, "%s: input %d is %s, float32 is needed", context.name(), input,
             dataTypeName(context.in(input).type));
}

// Returns the extents [n, c, height, width] of the picture; the executions address its batch extent and planes with 32
// bits.
Shape pictureShape(const ShapeContext& context) {
    requireFloat(context, 0);
    requireFloat(context, 1);
    const Shape x = channelFirstShape(context.in(0), context.name());
    if (x.rank() != 4 || x[0] > std::numeric_limits<int32_t>::max() || x[2] > kMaxSampledExtent ||
        x[3] > kMaxSampledExtent || x.elements(2, 4) > std::numeric_limits<int32_t>::max())
        fail(Status::ComputeSizeError, "%s: regions cannot be taken from an input of shape %s", context.name(),
             x.text().c_str());
    return x;
}

// Returns the number of regions: [count, columns] or [count, columns, 1, 1].
int64_t regionCount(const ShapeContext& context, int64_t columns) {
    const Shape& regions = context.in(1).shape;
    const int rank = regions.rank();
    if (rank < 2 || regions[1] != columns || regions.elements(2, rank) != 1)
        fail(Status::ComputeSizeError, "%s: the regions have the shape %s, rows of %lld values are needed",
             context.name(), regions.text().c_str(), asLong(columns));
    return regions[0];
}

void requireIndices(const ShapeContext& context, int64_t regions) {
    requireInt32(context, 2);
    if (context.in(2).elements() != regions)
        fail(Status::ComputeSizeError, "%s: %lld batch indices are given for %lld regions", context.name(),
             asLong(context.in(2).elements()), asLong(regions));
}

void shapeRoi(const ShapeContext& context) {
    const RoiParams& params = context.node.paramsAs<RoiParams>();
    const Shape x = pictureShape(context);
    const bool indexed = context.inputCount() > 2;
    const int64_t regions = regionCount(context, indexed ? 4 : 5);
    if (indexed) requireIndices(context, regions);
    const Shape out{regions, x[1], params.height, params.width};
    out.elements();
    context.set(0, shapeInFormat(out, context.in(0).format));
}

void shapeCropAndResize(const ShapeContext& context) {
    const Shape x = pictureShape(context);
    const int64_t regions = regionCount(context, 4);
    requireIndices(context, regions);
    const std::vector<int64_t> size = context.ints(3);
    if (size.size() != 2 || size[0] < 1 || size[1] < 1)
        fail(Status::ComputeSizeError, "%s: the crop size is not two positive extents", context.name());
    const Shape out{regions, x[1], size[0], size[1]};
    out.elements();
    context.set(0, shapeInFormat(out, context.in(0).format));
}

void geometryRegions(const OpContext& context) {
    ValueCommand command = context.command();
    if (command.type == OpType::CropAndResize) command.inputs.resize(3);
    emitChannelFirst(context, std::move(command));
}

uint32_t contentOfInput3(const Node&) {
    return 8u;
}

// Counts four taps and their products for every sample.
double flopsRoiAlign(const ShapeContext& context) {
    const int samples = context.node.paramsAs<RoiParams>().samples;
    return static_cast<double>(context.out(0).elements()) * 8 * std::max(1, samples) * std::max(1, samples);
}

double flopsCropAndResize(const ShapeContext& context) {
    return static_cast<double>(context.out(0).elements()) * (context.node.paramsAs<CropParams>().nearest ? 1 : 8);
}

}  // namespace

constexpr OpDef kRegionOps[] = {
    {.type = OpType::ROIAlign,
     .parse = parseRoiAlign,
     .shape = shapeRoi,
     .geometry = geometryRegions,
     .flops = flopsRoiAlign},
    {.type = OpType::ROIPooling, .parse = parseRoiPooling, .shape = shapeRoi, .geometry = geometryRegions},
    {.type = OpType::CropAndResize,
     .parse = parseCropAndResize,
     .shape = shapeCropAndResize,
     .geometry = geometryRegions,
     .valueInputs = contentOfInput3,
     .shapeOnlyInputs = contentOfInput3,
     .flops = flopsCropAndResize},
};
extern constinit const OpFamily regionOps = kRegionOps;

}  // namespace mnnc
