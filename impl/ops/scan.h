// Resolved parameters of scan commands: input 0 is viewed as [outer][extent][inner].
#pragma once
#include <cstdint>

#include "ir/params.h"

namespace mnnc {

struct ScanParams : ParamsOf<ScanParams> {
    int64_t outer = 1, extent = 1, inner = 1;
    bool exclusive = false, reverse = false;
};

}  // namespace mnnc
