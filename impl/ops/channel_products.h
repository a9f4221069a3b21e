// Parameters of CosineSimilarity for its execution.
#pragma once
#include <cstdint>

#include "ir/params.h"

namespace mnnc {

// Vectors of `extent` elements at a distance of `inner`, in [outer][extent][inner].
struct CosineParams : ParamsOf<CosineParams> {
    int64_t outer = 1, extent = 1, inner = 1;
};

}  // namespace mnnc
