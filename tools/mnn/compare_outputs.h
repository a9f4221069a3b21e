// Compares computed outputs with the expected ones of a case.
#pragma once
#include <string>
#include <vector>

#include "case.h"

namespace tool {

struct Verdict {
    bool passed = false;
    double error = 0;    // max|ours - expected| / max|finite expected|; over the paired rows where rows are unordered
    std::string remark;  // why the comparison failed, or another remark
};

// Compares one output whose elements have an order.
Verdict compareOrdered(const CaseTensor& expected, const Array& ours, double tolerance);

// Compares the outputs of one list of rows: pairs each expected row with a row of ours. `ours` is in the order of
// `expected`.
Verdict compareUnordered(const std::vector<const CaseTensor*>& expected, const std::vector<Array>& ours,
                         double tolerance, int64_t maxUnmatched);

// Returns "" when type and shape are the expected ones and no element is NaN, else a sentence about the difference.
std::string formFault(const Array& expected, const Array& ours);

// Returns max|a - b| / max|finite a|; infinite when the shapes or the non-finite elements differ.
double relativeError(const Array& a, const Array& b);

}  // namespace tool
