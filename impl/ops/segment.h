// Parameters of Segment for its execution.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/params.h"

namespace mnnc {

// Consecutive rows of a segment.
struct SegmentRun {
    int64_t segment, rows;
};

// All rows, of `inner` elements each, in ascending segments; segments without rows are left out.
struct SegmentParams : ParamsOf<SegmentParams> {
    std::vector<SegmentRun> runs;
    int64_t inner = 1;
};

}  // namespace mnnc
