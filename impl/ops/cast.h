// Parameters of Cast commands.
#pragma once
#include "ops/params.h"
#include "tensor/data_type.h"

namespace mnnc {

struct CastParams : ParamsOf<CastParams> {
    DataType type = DataType::Float32;
    bool toBool = false;  // four-byte inputs become 0 or 1
};

// Whether values of one type can be turned into the other.
bool castSupported(DataType from, DataType to) noexcept;

}  // namespace mnnc
