// Copies between a tensor of the host and a caller's buffer in one of the public layouts.
#pragma once
#include <cstdint>

#include "tensor/operand.h"

namespace mnnc {

// Returns the number of bytes of a buffer that holds the tensor in this layout. NC4HW4 rounds the channels up to 4
// (from rank 3 on; below that every layout is row-major).
int64_t hostBytes(const Tensor& tensor, Format layout);

// Returns whether the tensor's bytes are equal to those of a buffer in this layout.
bool sameLayout(const Operand& tensor, Format layout);

// Copies a whole tensor in any storage, whose elements lie at `data`. Where the layout differs from the tensor's format
// the channel axis moves (from rank 3 on); pad channels of NC4HW4 are written as zero and ignored when read.
void copyToHost(const Operand& tensor, const void* data, void* buffer, Format layout);
void copyFromHost(const Operand& tensor, void* data, const void* buffer, Format layout);

}  // namespace mnnc
