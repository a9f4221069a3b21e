// Convolution-like operators compute on the logical order [n, c, spatial...]. Tensors of the NHWC format have their
// channel last, so such an operator is lowered to transpose, compute, transpose back; the other formats already fit.
#pragma once
#include "ops/op_def.h"

namespace mnnc {

// Returns the extents of a tensor in the order [n, c, spatial...]. Throws ComputeSizeError naming `what` below rank 2.
Shape channelFirstShape(const Tensor& tensor, const char* what);

// Returns the extents [n, c, spatial...] in the order of a format.
Shape shapeInFormat(const Shape& channelFirst, Format format);

// `tensor` itself, or its channel-first copy when its format is NHWC.
Tensor* channelFirstInput(const OpContext& context, Tensor* tensor);

// Returns a tensor for the channel-first result of `output`: the output itself unless its format is NHWC.
Tensor* channelFirstOutput(const OpContext& context, Tensor* output);
// Moves the result in the tensor of channelFirstOutput() to the output.
void finishOutput(const OpContext& context, Tensor* output, Tensor* channelFirst);

// Emits `command` with input 0 and all outputs channel-first.
void emitChannelFirst(const OpContext& context, ValueCommand command);

}  // namespace mnnc
