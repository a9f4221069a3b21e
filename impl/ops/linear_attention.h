// LinearAttention: the gated delta rule (Yang, Kautz and Hatamizadeh, "Gated Delta Networks", arXiv 2412.06464), which
// keeps sums over all tokens from run to run in place of their keys and values. Its other type, the short convolution,
// is in short_convolution.h.
#pragma once
#include <cstdint>

#include "ir/params.h"

namespace mnnc {

struct LinearAttentionParams : ParamsOf<LinearAttentionParams> {
    bool shortConvolution = false;  // the heads and depths belong to the gated delta rule alone
    int keyHeads = 0, valueHeads = 0, keyDepth = 0, valueDepth = 0;
};

// The parameters of the command, whose inputs are the projections [rows][channels], which hold the queries and keys of
// all key heads and the values of all value heads, gates [rows][valueHeads], learning rates [rows][valueHeads], and
// weights [channels][1][taps] of the convolution over rows.
struct LinearAttentionForm : ParamsOf<LinearAttentionForm> {
    int tensor = 0;  // the number of the operator's output
    int rows = 0, channels = 0, taps = 0;
    int keyHeads = 0, valueHeads = 0, keyDepth = 0, valueDepth = 0;

    // The kept numbers are the rows before the run that the convolution reads, and a matrix for each value head.
    int64_t columnNumbers() const noexcept { return int64_t{channels} * (taps - 1); }
    int64_t matrixNumbers() const noexcept { return int64_t{keyDepth} * valueDepth; }
    int64_t numbers() const noexcept { return columnNumbers() + valueHeads * matrixNumbers(); }
};

}  // namespace mnnc
