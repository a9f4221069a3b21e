// Computes an Interp command row by row: the tables of taps are made once, and used by any number of threads at a time.
#pragma once
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/resample/resize.h"
#include "ir/command.h"
#include "ops/interp.h"

namespace mnnc::cpu {

class Resizer {
  public:
    // Takes float32 tensors of 2 to 5 axes, of the command's shapes; throws ComputeSizeError on others.
    void plan(const Kernels& kernels, const Command& interp);
    // Returns the elements of a block of channels.
    int64_t sourceFloats() const { return in_[0] * in_[1] * in_[2] * lanes_; }
    int64_t rowFloats() const { return out_[2] * lanes_; }
    int64_t rows() const { return out_[0] * out_[1]; }
    // Computes output row `row` of the block of channels whose source begins at src.
    void makeRow(const float* src, int64_t row, float* dst) const noexcept;
    // The same in two parts, for elements of any type. The first gives the beginnings and weights of the source rows of
    // an output row (and returns their number, kMaxRows at most), the second the taps inside a row.
    static constexpr int kMaxRows = 16;  // cubic in depth and height
    int rowsOf(int64_t row, int64_t* offsets, float* weights) const noexcept;
    const AxisTaps& columns() const { return taps_[2]; }

  private:
    int64_t lanes_ = 1;
    AxisTaps taps_[3];
    int64_t in_[3] = {1, 1, 1}, out_[3] = {1, 1, 1};
    void (*kernel_)(const ResizeRow&) = nullptr;
};

}  // namespace mnnc::cpu
