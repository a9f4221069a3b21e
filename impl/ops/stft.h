// Parameters of Stft.
#pragma once
#include "ir/params.h"

namespace mnnc {

struct StftParams : ParamsOf<StftParams> {
    bool oneSided = true;
};

}  // namespace mnnc
