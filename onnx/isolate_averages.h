// The engine passes steps on to tensors without any, through operators that keep values or nearly keep them. Averages
// are among these, and are then computed with codes. Where the model averages floats, or averages codes to floats, or
// rounds averages otherwise, this file puts an operator in between that does not pass steps on.
#pragma once
#include "builder.h"

namespace mnnc::onnx {

void isolateAverages(Builder& builder);

}  // namespace mnnc::onnx
