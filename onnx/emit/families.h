// The tables of the families (families.def).
#pragma once
#include "../call.h"

namespace mnnc::onnx {

#define MNN_C_FAMILY(name) extern const Family name##Family;
#include "families.def"
#undef MNN_C_FAMILY

}  // namespace mnnc::onnx
