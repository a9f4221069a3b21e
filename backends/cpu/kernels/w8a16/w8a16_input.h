// The input of W8A16 convolutions: activations rounded to 16 bits, strip by strip.
//
// A pixel of a 1x1 convolution has its own scale, found when it is rounded. The pixels of other convolutions share one
// scale for the image, because windows overlap; finding it takes a pass over the input.
#pragma once
#include <cstdint>
#include <vector>

#include "backends/cpu/kernels/conv/conv.h"
#include "backends/cpu/kernels/w8a16/w8a16_kernels.h"

namespace mnnc {

// Units of the output (rows; in a 1x1 convolution pixels) and the rounded input that they read.
struct W8A16Strip {
    int16_t* data;
    float *scale, *offset;  // of each pixel, where they have their own
    float* sum;             // sums of the inputs that each output reads, where weights have minima; or, of weights in
                            // blocks, of the 16-bit numbers of each block
    float* lines;           // sums of the channels of each pixel of data, from which `sum` is made
    int32_t* start;         // SplitRowArgs::start of a single pixel that is split
    int u0, u1;
    int rows;  // of data
};

class W8A16Input {
  public:
    // weights.blocks: more than one only where takesBlocks() is true.
    W8A16Input(const Kernels& k, const ConvShape& shape, const WeightQuantization& weights);
    static bool takesBlocks(const Kernels& k, const ConvShape& shape, int blocks);

    bool pointwise() const { return pointwise_; }
    // Returns the kernels of a single pixel, which a strip then holds in their form; null: strips hold 16-bit numbers.
    const W8A16RowKernels* row() const { return row_; }
    int images() const { return images_; }
    int units() const { return units_; }
    size_t imageFloats() const { return size_t(icb_) * k_.lanes * s_.ih * s_.iw; }
    // Distances in elements of a strip: to each tap, and between rows of units.
    const std::vector<ptrdiff_t>& tapOffsets() const { return offsets_; }
    ptrdiff_t rowElements() const { return pointwise_ ? k_.lanes : ptrdiff_t(width_) * k_.lanes; }
    int64_t unitBytes() const;  // of a strip

    int64_t stripBytes(int units) const { return layout(units).bytes; }
    W8A16Strip stripOf(char* memory, int u0, int u1) const;

    // Returns the scale of an image whose pixels share one.
    ActivationScale scaleOf(const float* src, ThreadPool& pool) const;
    void fill(const float* src, const ActivationScale& scale, const W8A16Strip& strip, ThreadPool& pool) const;

  private:
    // The parts of a strip, as offsets in bytes.
    struct Layout {
        int64_t scale, offset, sum, lines, start, bytes;
    };
    Layout layout(int units) const;
    int rowsOf(int units) const { return pointwise_ ? units : (units - 1) * s_.strideH + tapRows_; }
    void placePixels();
    void placeRows();
    // Fills rows begin .. end of the strip, for every channel.
    void fillPixels(const float* src, const W8A16Strip& strip, int begin, int end) const;
    void fillRows(const float* src, const ActivationScale& scale, const W8A16Strip& strip, int begin, int end) const;
    void sumWindows(const W8A16Strip& strip, int begin, int end) const;
    void sumBlocks(const W8A16Strip& strip, int begin, int end) const;
    bool suitsRow(int bits) const;

    const Kernels& k_;
    const ConvShape s_;
    const bool minima_, pointwise_;
    const int icb_, blocks_;
    int images_ = 1, units_ = 1, line_ = 1;
    int top_ = 0, left_ = 0, width_ = 0, tapRows_ = 0;
    ptrdiff_t srcPixel_ = 0, srcPlane_ = 0;
    std::vector<ptrdiff_t> offsets_;
    const W8A16RowKernels* row_ = nullptr;
};

}  // namespace mnnc
