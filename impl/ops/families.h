// The tables of the families (families.def).
#pragma once
#include "ops/op_def.h"

namespace mnnc {

#define MNN_C_FAMILY(name) extern const OpFamily name##Ops;
#include "ops/families.def"
#undef MNN_C_FAMILY

}  // namespace mnnc
