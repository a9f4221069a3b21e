// Resolved parameters of search commands: input 0 is viewed as [outer][extent][inner].
#pragma once
#include <cstdint>

#include "ir/params.h"

namespace mnnc {

struct SearchParams : ParamsOf<SearchParams> {
    int64_t outer = 1, extent = 1, inner = 1;
    bool largest = true;
};

// ArgMax of packed tensors in Caffe files: the output keeps the rank and lists `top` positions, then their values.
struct TopListParams : ParamsOf<TopListParams> {
    int64_t outer = 1, extent = 1, inner = 1;
    int64_t top = 1;
    bool values = false;
    float threshold = 0;
    bool useThreshold = false;
};

}  // namespace mnnc
