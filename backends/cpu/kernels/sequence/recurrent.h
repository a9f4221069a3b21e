// The gates of recurrent layers, one row of n states each, as ONNX defines LSTM and GRU. The inputs are sums of
// products and biases, the outputs are states; an output may share memory with an input of the same element. In the
// formulas, s is the sigmoid function.
#pragma once
#include <cstddef>

#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// The sums of the gates of an LSTM: input, output, forget and cell.
struct LstmSums {
    const float *i, *o, *f, *g;
};

// The sums of the gates z and r of a GRU and of its candidate.
struct GruSums {
    const float *z, *r, *h;
};

// A step of TensorFlow's LSTMBlockCell.
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
    // Like gru with separate sums of the inputs and of the states: z and r are added, and the candidate is tanh(x.h +
    // s(r) own.h).
    void (*gruResetAfter)(const GruSums& x, const GruSums& own, const float* h, float* y, size_t n);
    void (*lstmBlock)(const LstmBlockRow& row, size_t n);
};

const RecurrentKernels& recurrentKernels(Isa isa);

}  // namespace mnnc
