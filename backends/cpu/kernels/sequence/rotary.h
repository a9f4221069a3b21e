// The rotation of queries and keys by their position (Su et al., "RoFormer", arXiv 2104.09864) in the form that pairs
// an element with the one half a row behind it.
#pragma once
#include <cstddef>

#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// Rows of 2 half elements, one after another, that one row of cosines and one of sines rotate.
struct RotaryRows {
    const float *x, *cosines, *sines;
    float* y;  // may be x
    size_t half, rows;
    bool negatesUpper;  // the upper half is negated before it is multiplied with sines, else the lower one
};

struct RotaryKernels {
    // y = x cosines + other sines, in which `other` has the halves of x exchanged and one of them negated. Products and
    // sums are rounded one by one.
    void (*rotate)(const RotaryRows& rows);
};

const RotaryKernels& rotaryKernels(Isa isa);

}  // namespace mnnc
