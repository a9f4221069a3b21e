// Im2Col: every patch of an image becomes a column. Col2Im: adds the patches in columns to an image.
#include "ops/columns.h"

#include <algorithm>

#include "mnn_generated.h"
#include "model/wire_access.h"
#include "ops/channel_first.h"
#include "ops/convolution.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

struct PatchAxis {
    int64_t kernel = 1, stride = 1, dilate = 1, begin = 0, end = 0;
    int64_t effective() const { return (kernel - 1) * dilate + 1; }
};

struct WirePatches : ParamsOf<WirePatches> {
    PatchAxis axis[2];  // height, width
    ConvPad padMode = ConvPad::Explicit;
    bool statesPads = false;
};

// The patches along one axis.
struct Patches {
    int64_t count, begin;
};

ParamsPtr parsePatches(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::Convolution2D* table = op.main_as_Convolution2D();
    if (!table || !table->common()) fail(Status::BadParameter, "op '%s': the patch parameters are missing", name);
    const wire::Convolution2DCommon& c = *table->common();
    auto params = std::make_shared<WirePatches>();
    PatchAxis& rows = params->axis[0];
    PatchAxis& columns = params->axis[1];
    rows = {c.kernelY(), c.strideY(), c.dilateY(), c.padY(), c.padY()};
    columns = {c.kernelX(), c.strideX(), c.dilateX(), c.padX(), c.padX()};
    params->statesPads = c.padX() != 0 || c.padY() != 0;
    if (const auto* pads = c.pads(); vectorSize(pads) > 0) {
        if (pads->size() < 4)
            fail(Status::BadParameter, "op '%s': pads has %u values, 4 are needed", name, pads->size());
        rows.begin = pads->Get(0), columns.begin = pads->Get(1);
        rows.end = pads->Get(2), columns.end = pads->Get(3);
        params->statesPads = true;
    }
    for (const PatchAxis& axis : params->axis) {
        constexpr int64_t kMax = 1 << 20, kMaxColumnPad = 1 << 28;
        if (std::min({axis.kernel, axis.stride, axis.dilate}) < 1 ||
            std::max({axis.kernel, axis.stride, axis.dilate}) > kMax)
            fail(Status::BadParameter,
                 "op '%s': a kernel extent is %lld, a stride %lld and a dilation %lld; 1 to %lld are possible", name,
                 asLong(axis.kernel), asLong(axis.stride), asLong(axis.dilate), asLong(kMax));
        if (std::max(std::abs(axis.begin), std::abs(axis.end)) > kMaxColumnPad)
            fail(Status::BadParameter, "op '%s': pads of %lld and %lld are too large", name, asLong(axis.begin),
                 asLong(axis.end));
    }
    if (rows.kernel * columns.kernel > RegionBuilder::kMaxRegions)
        fail(Status::NotSupported, "a patch of %lld x %lld elements is not implemented", asLong(rows.kernel),
             asLong(columns.kernel));
    const int mode = static_cast<int>(c.padMode());
    if (mode < 0 || mode > 2) fail(Status::BadParameter, "op '%s': padMode is %d, 0 to 2 are known", name, mode);
    params->padMode = static_cast<ConvPad>(mode);
    return params;
}

Patches patchesOf(const WirePatches& params, int which, int64_t extent) {
    const PatchAxis& a = params.axis[which];
    if (params.padMode == ConvPad::Same) {
        const int64_t count = ceilDiv(extent, a.stride);
        const int64_t total = std::max<int64_t>(0, (count - 1) * a.stride + a.effective() - extent);
        return {count, params.statesPads ? a.begin : total / 2};
    }
    const int64_t padded = params.padMode == ConvPad::Valid ? extent : extent + a.begin + a.end;
    return {padded < a.effective() ? 0 : (padded - a.effective()) / a.stride + 1, a.begin};
}

void shapeIm2Col(const ShapeContext& context) {
    const auto& params = context.node.paramsAs<WirePatches>();
    const Shape in = channelFirstShape(context.in(0), context.name());
    if (in.rank() != 4)
        fail(Status::ComputeSizeError, "op '%s': an image of rank 4 is needed, the input is %s", context.name(),
             in.text().c_str());
    const Patches rows = patchesOf(params, 0, in[2]), columns = patchesOf(params, 1, in[3]);
    const int64_t taps = params.axis[0].kernel * params.axis[1].kernel;
    Shape out{checkedMul(in[1], taps, context.name()),
              checkedMul(in[0], checkedMul(rows.count, columns.count, context.name()), context.name())};
    out.elements();
    context.set(0, out, context.in(0).type, Format::NCHW);
}

void geometryIm2Col(const OpContext& context) {
    const auto& params = context.node.paramsAs<WirePatches>();
    Tensor* const image = channelFirstInput(context, context.inputs[0]);
    const Shape& in = image->shape;
    const Patches rows = patchesOf(params, 0, in[2]), columns = patchesOf(params, 1, in[3]);
    const PatchAxis &y = params.axis[0], &x = params.axis[1];
    RegionBuilder builder(context.name());
    const int64_t plane = in[2] * in[3], patches = rows.count * columns.count, row = in[0] * patches;
    for (int64_t tap = 0; !context.out(0).empty() && tap < y.kernel * x.kernel; ++tap) {
        const int64_t offsetY = tap / x.kernel * y.dilate - rows.begin;
        const int64_t offsetX = tap % x.kernel * x.dilate - columns.begin;
        const PatchRange overY = patchesInside(in[2], rows.count, y.stride, offsetY);
        const PatchRange overX = patchesInside(in[3], columns.count, x.stride, offsetX);
        const BoxAxis axes[] = {{in[1], plane, y.kernel * x.kernel * row},
                                {in[0], in[1] * plane, patches},
                                {overY.last - overY.first, y.stride * in[3], columns.count},
                                {overX.last - overX.first, x.stride, 1}};
        builder.box(0, (overY.first * y.stride + offsetY) * in[3] + overX.first * x.stride + offsetX,
                    tap * row + overY.first * columns.count + overX.first, axes);
    }
    context.geometry.raster(context.outputs[0], {image}, builder.take(), context.node.name);
}

// Returns the columns' shape [n, c * taps, patches]; columns of rank 2 belong to one image.
Shape columnsShape(const ShapeContext& context) {
    Shape columns = context.in(0).shape;
    if (columns.rank() == 2) columns.insert(0, 1);
    if (columns.rank() != 3)
        fail(Status::ComputeSizeError, "op '%s': columns of rank 2 or 3 are needed, the input is %s", context.name(),
             columns.text().c_str());
    return columns;
}

void shapeCol2Im(const ShapeContext& context) {
    const auto& params = context.node.paramsAs<WirePatches>();
    const char* name = context.name();
    const Shape columns = columnsShape(context);
    const std::vector<int64_t> size = context.ints(1);
    if (size.size() != 2)
        fail(Status::ComputeSizeError, "op '%s': the size of the image has %zu values, 2 are needed", name,
             size.size());
    if (context.in(0).type != DataType::Float32)
        fail(Status::NotSupported, "op '%s': Col2Im of %s is not implemented", name, dataTypeName(context.in(0).type));
    for (const int64_t extent : size)
        if (extent < 0) fail(Status::ComputeSizeError, "op '%s': extent %lld is negative", name, asLong(extent));
    const int64_t taps = params.axis[0].kernel * params.axis[1].kernel;
    const int64_t patches = checkedMul(patchesOf(params, 0, size[0]).count, patchesOf(params, 1, size[1]).count, name);
    if (columns[1] % taps != 0 || columns[2] != patches)
        fail(Status::ComputeSizeError, "op '%s': columns %s do not fit patches of %lld taps at %lld places", name,
             columns.text().c_str(), asLong(taps), asLong(patches));
    const Shape out{columns[0], columns[1] / taps, size[0], size[1]};
    out.elements();
    context.set(0, out, DataType::Float32, Format::NCHW);
}

void geometryCol2Im(const OpContext& context) {
    const auto& wire = context.node.paramsAs<WirePatches>();
    const Shape& image = context.out(0).shape;
    const Patches rows = patchesOf(wire, 0, image[2]), columns = patchesOf(wire, 1, image[3]);
    auto params = std::make_shared<Col2ImParams>();
    params->planes = image[0] * image[1];
    params->height = image[2], params->width = image[3];
    params->patchesY = rows.count, params->patchesX = columns.count;
    params->kernelY = wire.axis[0].kernel, params->kernelX = wire.axis[1].kernel;
    params->strideY = wire.axis[0].stride, params->strideX = wire.axis[1].stride;
    params->dilateY = wire.axis[0].dilate, params->dilateX = wire.axis[1].dilate;
    params->padTop = rows.begin, params->padLeft = columns.begin;
    ValueCommand command = context.command();
    command.params = std::move(params);
    command.inputs.resize(1);
    context.geometry.emit(std::move(command));
}

}  // namespace

constexpr OpDef kColumnOps[] = {
    {.type = OpType::Im2Col, .parse = parsePatches, .shape = shapeIm2Col, .geometry = geometryIm2Col},
    {.type = OpType::Col2Im,
     .parse = parsePatches,
     .shape = shapeCol2Im,
     .geometry = geometryCol2Im,
     .valueInputs = contentOfInput1,
     .shapeOnlyInputs = contentOfInput1,
     .flops = flopsPerInput<1>},
};
extern constinit const OpFamily columnOps = kColumnOps;

}  // namespace mnnc
