// Compares computed outputs with the expected ones of a case.
#pragma once
#include <string>
#include <vector>

#include "case.h"

namespace tool {

struct Verdict {
    bool passed = false;
    double error = 0;    // max|ours - expected| / max|expected|; over the paired rows where rows are unordered
    std::string remark;  // why it failed, or what else is worth knowing
};

// One output whose elements have an order.
Verdict compareOrdered(const CaseTensor& expected, const Array& ours, double tolerance);

// The outputs of one list of rows: pairs each expected row with a row of ours; `ours` in the order of
// `expected`.
Verdict compareUnordered(const std::vector<const CaseTensor*>& expected, const std::vector<Array>& ours,
                         double tolerance, int64_t maxUnmatched);

// "" when type and shape are the expected ones and no element is NaN, else what is wrong.
std::string formFault(const Array& expected, const Array& ours);

}  // namespace tool
