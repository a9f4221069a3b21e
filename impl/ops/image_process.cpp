// ImageProcess: samples pictures of bytes by a matrix, changes the pixel format and normalises.
#include "ops/image_process.h"

#include <algorithm>
#include <cmath>

#include "mnn_generated.h"
#include "ops/channel_first.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

PixelFormat pixelFormat(wire::ImageFormatType stored, const char* which, const char* name) {
    const int code = static_cast<int>(stored);
    if (code < 0 || code > static_cast<int>(PixelFormat::Bgra))
        fail(Status::NotSupported, "op '%s': the %s pixel format %d is not implemented", name, which, code);
    return static_cast<PixelFormat>(code);
}

void readFactors(const flatbuffers::Vector<float>* list, std::array<float, 4>& values) {
    if (list) std::copy_n(list->begin(), std::min<uint32_t>(list->size(), 4), values.begin());
}

void readMatrix(const flatbuffers::Vector<float>* list, ImageProcessParams& params, const char* name) {
    if (!list || list->size() == 0) return;
    if (list->size() != 9)
        fail(Status::BadParameter, "op '%s': the matrix has %u values, 9 are needed", name, list->size());
    std::copy(list->begin(), list->end(), params.matrix.begin());
    for (const double value : params.matrix)
        if (!std::isfinite(value))
            fail(Status::BadParameter, "op '%s': the matrix has the value %g, which is not finite", name, value);
}

ParamsPtr parseImageProcess(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::ImageProcessParam* table = op.main_as_ImageProcessParam();
    if (!table) fail(Status::BadParameter, "op '%s' carries no ImageProcessParam table", name);
    if (table->draw() || context.node.inputs.size() != 1)
        fail(Status::NotSupported, "op '%s': drawing into a picture is not implemented", name);
    auto params = std::make_shared<ImageProcessParams>();
    params->source = pixelFormat(table->sourceFormat(), "source", name);
    params->target = pixelFormat(table->destFormat(), "target", name);
    const int filter = static_cast<int>(table->filterType()), wrap = static_cast<int>(table->wrap());
    if (filter < 0 || filter > 1) fail(Status::NotSupported, "op '%s': the filter %d is not implemented", name, filter);
    if (wrap < 0 || wrap > 1) fail(Status::NotSupported, "op '%s': the wrap mode %d is not implemented", name, wrap);
    params->bilinear = filter == 1;
    params->paddingOutside = wrap == 1;
    params->padding = static_cast<uint8_t>(table->paddingValue());
    readFactors(table->mean(), params->mean);
    readFactors(table->normal(), params->normal);
    readMatrix(table->transform(), *params, name);
    const auto* shape = table->shape();
    if (!shape || shape->size() != 4)
        fail(Status::BadParameter, "op '%s': the shape of the result has %u extents, 4 are needed", name,
             shape ? shape->size() : 0);
    params->height = shape->Get(2);
    params->width = shape->Get(3);
    if (shape->Get(1) != pixelChannels(params->target) || params->height < 0 || params->width < 0)
        fail(Status::BadParameter,
             "op '%s': the result has %d channels and the extents %lld x %lld, %d channels and no negative extents are "
             "needed",
             name, shape->Get(1), asLong(params->height), asLong(params->width), pixelChannels(params->target));
    const DataType type = table->outputType() == wire::DataType::DT_INVALID
                              ? DataType::UInt8
                              : dataTypeFromWire(static_cast<int32_t>(table->outputType()), name);
    if (type != DataType::UInt8 && type != DataType::Float32)
        fail(Status::NotSupported, "op '%s': pictures of %s are not implemented", name, dataTypeName(type));
    params->bytes = type == DataType::UInt8;
    return params;
}

void shapeImageProcess(const ShapeContext& context) {
    const auto& params = context.node.paramsAs<ImageProcessParams>();
    const Tensor& x = context.in(0);
    if (x.type != DataType::UInt8)
        fail(Status::NotSupported, "op '%s': pictures of %s are not implemented", context.name(), dataTypeName(x.type));
    Shape shape = channelFirstShape(x, context.name());
    if (shape.rank() != 4 || shape[1] != pixelChannels(params.source))
        fail(Status::ComputeSizeError, "op '%s': pictures with %d values a pixel are needed, the input is %s",
             context.name(), pixelChannels(params.source), x.shape.text().c_str());
    shape[1] = pixelChannels(params.target);
    shape[2] = params.height;
    shape[3] = params.width;
    shape.elements();
    if (shape.elements() > 0 && x.empty())
        fail(Status::ComputeSizeError, "op '%s': the picture %s is empty, but its result is not", context.name(),
             x.shape.text().c_str());
    context.set(0, shapeInFormat(shape, x.format), params.bytes ? DataType::UInt8 : DataType::Float32, x.format);
}

PictureLayout layoutOf(const Tensor& tensor, const char* name) {
    const Shape shape = channelFirstShape(tensor, name);
    PictureLayout layout{shape[2], shape[3], shape[1] * shape[2] * shape[3], 1, shape[2] * shape[3]};
    if (tensor.format == Format::NHWC) {
        layout.pixel = shape[1];
        layout.channel = 1;
    }
    return layout;
}

void geometryImageProcess(const OpContext& context) {
    auto params = std::make_shared<ImageProcessParams>(context.node.paramsAs<ImageProcessParams>());
    params->from = layoutOf(context.in(0), context.name());
    params->to = layoutOf(context.out(0), context.name());
    ValueCommand command = context.command();
    command.params = std::move(params);
    context.geometry.emit(std::move(command));
}

double imageProcessFlops(const ShapeContext& context) {
    return 12.0 * static_cast<double>(context.out(0).elements());
}

}  // namespace

constexpr OpDef kImageProcessOps[] = {{.type = OpType::ImageProcess,
                                       .parse = parseImageProcess,
                                       .shape = shapeImageProcess,
                                       .geometry = geometryImageProcess,
                                       .flops = imageProcessFlops}};
extern constinit const OpFamily imageProcessOps = kImageProcessOps;

}  // namespace mnnc
