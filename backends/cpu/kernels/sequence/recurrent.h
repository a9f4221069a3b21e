// The gates of recurrent layers, one row of n states each. Sums of products and biases come in, states go out; an
// output may be where an input of the same element is.
#pragma once
#include <cstddef>

#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// Sums of the gates of an LSTM: input, output, forget and cell.
struct LstmSums {
    const float *i, *o, *f, *g;
};

// Sums of the gates z and r of a GRU and of its candidate.
struct GruSums {
    const float *z, *r, *h;
};

struct LstmBlockRow {
    const float* sums[4];      // i, ci, f, o
    const float* state;        // cs of the step before
    const float* peephole[3];  // wci, wcf, wco; null: none
    float forgetBias, clip;    // clip 0: none
    float* out[7];             // i, cs, f, o, ci, co, h
};

struct RecurrentKernels {
    // h = tanh(x)
    void (*rnn)(const float* x, float* h, size_t n);
    // c = s(f) c0 + s(i) tanh(g), h = s(o) tanh(c)
    void (*lstm)(const LstmSums& sums, const float* c0, float* c, float* h, size_t n);
    // y = s(r) h
    void (*gruReset)(const float* r, const float* h, float* y, size_t n);
    // y = s(z) h + (1 - s(z)) tanh(x)
    void (*gru)(const float* z, const float* x, const float* h, float* y, size_t n);
    // The same of sums of the inputs and of the states, with z and r added, and tanh(x.h + s(r) own.h)
    void (*gruResetAfter)(const GruSums& x, const GruSums& own, const float* h, float* y, size_t n);
    void (*lstmBlock)(const LstmBlockRow& row, size_t n);
};

const RecurrentKernels& recurrentKernels(Isa isa);

}  // namespace mnnc
