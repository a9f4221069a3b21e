// GridSample: parameters and shape rule. The input is [n, c, (depth,) height, width], the grid [n, (depth,) height,
// width, 2 or 3] with the coordinates x, y(, z) of every output, -1 to 1 over the extent of an axis.
// https://onnx.ai/onnx/operators/onnx__GridSample.html
#include "ops/grid_sample.h"

#include <limits>

#include "mnn_generated.h"
#include "ops/channel_first.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

ParamsPtr parseGridSample(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::GridSample* table = op.main_as_GridSample();
    if (!table) fail(Status::BadParameter, "%s: the sampling parameters are missing", name);
    const int mode = static_cast<int>(table->mode()), padding = static_cast<int>(table->paddingMode());
    if (mode < 0 || mode > 1) fail(Status::BadParameter, "%s: the sampling mode %d is unknown", name, mode);
    if (padding < 0 || padding > 3) fail(Status::BadParameter, "%s: the padding mode %d is unknown", name, padding);
    if (padding == 3) fail(Status::NotSupported, "sampling of a cube map is not implemented");
    if (table->backward() || context.node.inputs.size() > 2)
        fail(Status::NotSupported, "the gradient of a sampling is not implemented");
    auto p = std::make_shared<GridSampleParams>();
    p->nearest = mode == 1;
    p->padding = static_cast<GridPadding>(padding);
    p->alignCorners = table->alignCorners();
    return p;
}

void shapeGridSample(const ShapeContext& context) {
    const char* name = context.name();
    for (const int i : {0, 1})
        if (context.in(i).type != DataType::Float32)
            fail(Status::BadType, "%s: input %d is %s, float32 is needed", name, i, dataTypeName(context.in(i).type));
    const Shape x = channelFirstShape(context.in(0), name), &grid = context.in(1).shape;
    const int rank = x.rank();
    if ((rank != 4 && rank != 5) || grid.rank() != rank || grid[rank - 1] != rank - 2 || grid[0] != x[0])
        fail(Status::ComputeSizeError, "%s: a grid of shape %s cannot sample an input of shape %s", name,
             grid.text().c_str(), x.text().c_str());
    Shape out = x;
    for (int i = 2; i < rank; ++i) out[i] = grid[i - 1];
    if (!out.empty()) {
        for (int i = 2; i < rank; ++i)
            if (x[i] < 1 || x[i] > kMaxSampledExtent)
                fail(Status::ComputeSizeError, "%s: an input of shape %s cannot be sampled", name, x.text().c_str());
        if (x.elements(2, rank) > std::numeric_limits<int32_t>::max())
            fail(Status::ComputeSizeError, "%s: the planes of an input of shape %s are too large", name,
                 x.text().c_str());
    }
    context.set(0, shapeInFormat(out, context.in(0).format));
}

void geometryGridSample(const OpContext& context) {
    emitChannelFirst(context, context.command());
}

double flopsGridSample(const ShapeContext& context) {
    const Tensor& out = context.out(0);
    const bool nearest = context.node.paramsAs<GridSampleParams>().nearest;
    return static_cast<double>(out.elements()) * (nearest ? 1 : 2 << (out.shape.rank() - 2));
}

}  // namespace

constexpr OpDef kGridSampleOps[] = {{.type = OpType::GridSample,
                                     .parse = parseGridSample,
                                     .shape = shapeGridSample,
                                     .geometry = geometryGridSample,
                                     .flops = flopsGridSample}};
extern constinit const OpFamily gridSampleOps = kGridSampleOps;

}  // namespace mnnc
