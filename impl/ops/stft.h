// Parameters of Stft.
#pragma once
#include "ops/params.h"

namespace mnnc {

struct StftParams : ParamsOf<StftParams> {
    bool oneSided = true;
};

}  // namespace mnnc
