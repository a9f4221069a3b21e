// Parameters of Histogram.
#pragma once
#include "ir/params.h"

namespace mnnc {

struct HistogramParams : ParamsOf<HistogramParams> {
    int64_t bins = 0;
    double low = 0, high = 0;     // low < high; values outside are not counted
    int64_t first = 0, step = 1;  // in a command: the places of the counted elements
    int64_t channel = -1;         // as parsed: the index on the last axis; negative: all elements
};

}  // namespace mnnc
