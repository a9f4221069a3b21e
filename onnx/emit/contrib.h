// Parts of operators of com.microsoft that several families share.
#pragma once
#include "helpers.h"

namespace mnnc::onnx {

// Normalises over the axes from `axis` on. beta: may be null.
V normalised(Call& c, V x, int64_t axis, V gamma, V beta, bool rms, float epsilon);

}  // namespace mnnc::onnx
