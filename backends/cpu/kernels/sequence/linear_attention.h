// Rows of short convolutions, and of the gated delta rule (Yang, Kautz and Hatamizadeh, "Gated Delta Networks", arXiv
// 2412.06464): each head has a matrix [keyDepth][valueDepth], which each row fades, corrects at its key, and reads with
// its query.
#pragma once
#include <cstddef>

#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

struct DeltaRow {
    const float *q, *k, *v;  // keyDepth, keyDepth and valueDepth numbers
    float fade, learn;       // factors of the matrix, and of its correction
    float* matrix;
    float* out;  // valueDepth numbers
    size_t keyDepth, valueDepth;
};

struct LinearAttentionKernels {
    // y[c] = silu(the sum of weights[t][c] rows[t][c] over the taps); rows are pointers.
    void (*convolve)(const float* const* rows, const float* weights, size_t taps, size_t channels, float* y);
    // y[c] = factors[c] times that sum without silu.
    void (*convolveScaled)(const float* const* rows, const float* weights, size_t taps, size_t channels,
                           const float* factors, float* y);
    // x becomes x / |x| times `factor`.
    void (*normalise)(float* x, size_t n, float factor);
    void (*deltaRow)(const DeltaRow& row);
};
const LinearAttentionKernels& linearAttentionKernels(Isa isa);

}  // namespace mnnc
