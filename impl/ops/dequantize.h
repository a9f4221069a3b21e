// Parameters of Dequantize, which converts quantised integers of TensorFlow and TFLite to floats.
#pragma once
#include "ir/params.h"

namespace mnnc {

enum class DequantMode : uint8_t { MinCombined = 0, MinFirst = 1, Scaled = 2, Affine = 3 };

struct DequantizeParams : ParamsOf<DequantizeParams> {
    DequantMode mode = DequantMode::Affine;
    int type = 0;               // the number of the stored type in the file; 0: the tensor's type
    float scale = 1, zero = 0;  // Affine: x = (q - zero) * scale; other modes have the range as inputs 1 and 2
};

}  // namespace mnnc
