// The value that a Raster leaves where no region writes.
#pragma once
#include "tensor/operand.h"

namespace mnnc::cpu {

// Returns each byte of that value: zero, in a quantised tensor the code of zero.
inline uint8_t fillByte(const Operand& tensor) {
    return tensor.type == DataType::Int8 && tensor.quant.known()
               ? static_cast<uint8_t>(static_cast<int8_t>(tensor.quant.zero))
               : uint8_t{0};
}

}  // namespace mnnc::cpu
