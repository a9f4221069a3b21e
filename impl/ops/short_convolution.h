// LinearAttention of type short_conv (the LFM2 models): a causal convolution over tokens, channel by channel, between
// two element-wise products. The session keeps the last rows that the convolution reads.
#pragma once
#include <cstdint>

#include "ir/params.h"

namespace mnnc {

struct OpContext;
struct ShapeContext;

// The parameters of the command, whose inputs are the projections [rows][3 channels], which hold a factor b, a factor c
// and values x of every channel, and weights [channels][1][taps]. Inputs 1 and 2 of the operator, gates and learning
// rates, have no meaning for it. Its output is [rows][channels]:
// out[r][i] = c[r][i] * sum over t of weights[i][t] * (b * x)[r + t - taps + 1][i].
struct ShortConvolutionForm : ParamsOf<ShortConvolutionForm> {
    int tensor = 0;  // the number of the operator's output
    int rows = 0, channels = 0, taps = 0;

    // The kept numbers are the products b * x of the rows before the run that the convolution reads.
    int64_t numbers() const noexcept { return int64_t{channels} * (taps - 1); }
};

void shapeShortConvolution(const ShapeContext& context);
void emitShortConvolution(const OpContext& context);
double shortConvolutionFlops(const ShapeContext& context);

}  // namespace mnnc
