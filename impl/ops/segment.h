// Parameters of Segment as its execution reads them.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/params.h"

namespace mnnc {

// Rows of a segment that follow one another.
struct SegmentRun {
    int64_t segment, rows;
};

// All rows, of `inner` elements each, in ascending segments; those that have none are not among them.
struct SegmentParams : ParamsOf<SegmentParams> {
    std::vector<SegmentRun> runs;
    int64_t inner = 1;
};

}  // namespace mnnc
