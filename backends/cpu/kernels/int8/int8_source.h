// The input of dense int8 convolutions in the form that products need: x + 128, or x, in units of the instruction set
// (1 or 2 bytes), with a border where taps leave the map.
#pragma once
#include <cstdint>
#include <vector>

#include "backend/thread_pool.h"
#include "backends/cpu/kernels/conv_types.h"
#include "backends/cpu/kernels/int8/int8_kernels.h"

namespace mnnc {

// The form in which products read the map.
enum class Int8Layout {
    Rows,    // rows with a border
    Pixels,  // the pixels that outputs read, without a border: 1x1 convolutions
    Narrow,  // four channels side by side, or three, rows with a border: first layers
};

// Rows and pixels have their channels in blocks, each a plane of its own, or side by side where the instruction set has
// Int8Kernels::widenPixels.
class Int8Source {
  public:
    Int8Source(const Int8Kernels& k, const ConvShape& shape, Int8Layout layout, bool nchw);

    Int8Layout layout() const { return layout_; }
    bool byPixel() const { return layout_ == Int8Layout::Pixels; }
    // Returns whether products can read the pixels of the input in place.
    bool isInput() const {
        return byPixel() && (batchRow_ || (s_.strideH == 1 && s_.strideW == 1 && s_.oh == s_.ih && s_.ow == s_.iw));
    }
    // Whether the blocks of a pixel lie side by side.
    bool together() const { return together_; }
    // Whether the map has a single pixel (fully connected layers): then the images of the batch form the row.
    bool batchRow() const { return batchRow_; }
    int images() const { return batchRow_ ? 1 : s_.batch; }
    int pixels() const { return batchRow_ ? s_.batch : s_.oh * s_.ow; }  // of the output
    int units() const { return byPixel() ? pixels() : s_.oh; }           // pixels or rows
    int64_t imageElements() const;                                       // of the input
    int64_t bytes() const { return bytes_; }                             // of scratch
    int64_t unitBytes() const;
    int rowTaps() const { return rowTaps_; }  // taps that are read as one, since they are contiguous
    // Layout Narrow: the channels of a pixel, and the steps of four bytes that a run of such taps takes. The last step
    // may reach into the next pixel.
    int narrowChannels() const { return narrowChannels_; }
    int rowSteps() const { return (rowTaps_ * narrowChannels_ * k_.unit + 3) / 4; }
    const std::vector<ptrdiff_t>& taps() const { return taps_; }
    // Distances in bytes to the next block of channels, output row and output pixel.
    ptrdiff_t block() const { return block_; }
    ptrdiff_t row() const { return ptrdiff_t(s_.strideH) * rowBytes_; }
    ptrdiff_t pixel() const { return pixel_; }

    // Fills all rows; with byPixel() a range of pixels.
    void fill(const int8_t* src, char* source, int padding, ThreadPool& pool) const;
    void fillPixels(const int8_t* src, char* source, int begin, int end) const;
    // Computes the sum of x + 128 over each pixel's window, times the ratio, for weights with a minimum, which grouped
    // convolutions do not have.
    void sumWindows(const char* source, float ratio, float* sums, ThreadPool& pool) const;

  private:
    void fillRows(const int8_t* src, char* source, int padding, int64_t begin, int64_t end) const;
    template <int P>
    void fillSomePixels(const int8_t* src, char* to, int begin, int end) const;
    void fillPixelsTogether(const int8_t* src, char* source, int begin, int end) const;
    void fillNarrowRow(const int8_t* src, int y, char* to) const;
    int value(const char* pixel, int lane) const;  // x + 128

    const Int8Kernels& k_;
    const ConvShape s_;
    const Int8Layout layout_;
    const bool nchw_, batchRow_, together_;
    const int icb_;
    int planes_ = 0, rowTaps_ = 1, narrowChannels_ = 4, top_ = 0, left_ = 0, height_ = 0, width_ = 0;
    ptrdiff_t pixelBytes_ = 0, rowBytes_ = 0, block_ = 0, pixel_ = 0;
    int64_t bytes_ = 0;
    std::vector<ptrdiff_t> taps_;
};

}  // namespace mnnc
