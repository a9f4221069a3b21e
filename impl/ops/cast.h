// Parameters of Cast commands.
#pragma once
#include "ir/params.h"
#include "tensor/data_type.h"

namespace mnnc {

struct CastParams : ParamsOf<CastParams> {
    DataType type = DataType::Float32;
    bool toBool = false;  // every value but zero becomes 1
    bool toHalf = false;  // floats are rounded to the nearest half
};

struct OpContext;
struct Tensor;

// Emits the command that converts `input` to the type of `output`.
void emitCast(const OpContext& context, Tensor* input, Tensor* output);

}  // namespace mnnc
