// Transposes around operators that need their channel in axis 1. NHWC tensors of every rank above 1 have their channel
// last; a transpose is one region of three axes.
#include "ops/channel_first.h"

namespace mnnc {

namespace {

// Returns the region that copies [n, outer, inner] to [n, inner, outer].
Region transposeRegion(int64_t batch, int64_t outer, int64_t inner) {
    Region region;
    const int64_t slice = checkedMul(outer, inner, "transposed slice");
    region.size[0] = batch;
    region.size[1] = inner;
    region.size[2] = outer;
    region.src.stride[0] = slice;
    region.src.stride[1] = 1;
    region.src.stride[2] = inner;
    region.dst.stride[0] = slice;
    region.dst.stride[1] = outer;
    region.dst.stride[2] = 1;
    return region;
}

}  // namespace

Shape channelFirstShape(const Tensor& tensor, const char* what) {
    const int rank = tensor.shape.rank();
    if (rank < 2)
        fail(Status::ComputeSizeError, "%s: the input %s has rank %d, at least 2 is needed", what,
             tensor.shape.text().c_str(), rank);
    Shape shape = tensor.shape;
    if (tensor.format == Format::NHWC) {
        const int64_t channel = shape[rank - 1];
        shape.erase(rank - 1);
        shape.insert(1, channel);
    }
    return shape;
}

Shape shapeInFormat(const Shape& channelFirst, Format format) {
    Shape shape = channelFirst;
    if (format == Format::NHWC && shape.rank() > 1) {
        const int64_t channel = shape[1];
        shape.erase(1);
        shape.insert(shape.rank(), channel);
    }
    return shape;
}

Tensor* channelFirstInput(const OpContext& context, Tensor* tensor) {
    if (tensor->format != Format::NHWC) return tensor;
    const Shape shape = channelFirstShape(*tensor, context.name());
    Tensor* copy = context.geometry.temporary(shape, tensor->type, Format::NC4HW4);
    copy->quant = tensor->quant;
    context.geometry.raster(copy, {tensor}, {transposeRegion(shape[0], shape.elements(2, shape.rank()), shape[1])},
                            context.node.name + "/channel_first");
    return copy;
}

Tensor* channelFirstOutput(const OpContext& context, Tensor* output) {
    if (output->format != Format::NHWC) return output;
    Tensor* copy = context.geometry.temporary(channelFirstShape(*output, context.name()), output->type, Format::NC4HW4);
    copy->quant = output->quant;
    return copy;
}

void finishOutput(const OpContext& context, Tensor* output, Tensor* channelFirst) {
    if (output == channelFirst) return;
    const Shape& shape = channelFirst->shape;
    context.geometry.raster(output, {channelFirst},
                            {transposeRegion(shape[0], shape[1], shape.elements(2, shape.rank()))},
                            context.node.name + "/channel_last");
}

void emitChannelFirst(const OpContext& context, ValueCommand command) {
    const std::vector<Tensor*> outputs = command.outputs;
    command.inputs[0] = channelFirstInput(context, command.inputs[0]);
    for (Tensor*& output : command.outputs) output = channelFirstOutput(context, output);
    const std::vector<Tensor*> computed = command.outputs;
    context.geometry.emit(std::move(command));
    for (size_t i = 0; i < outputs.size(); ++i) finishOutput(context, outputs[i], computed[i]);
}

}  // namespace mnnc
