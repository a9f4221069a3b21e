// The forms of Winograd convolutions, and the kernels that transform their tiles.
#pragma once
#include <cstddef>

#include "backends/cpu/kernels/conv_types.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// F(unit x unit, taps x taps), or F(unit, taps) along the rows or the columns of a map, for windows of 1 x taps and
// taps x 1.
//
// With a stride of 2 an output is the sum of two convolutions with a stride of 1: of the even places of the input with
// the even taps, and of the odd places with the odd taps. Their points follow one another. A single tap needs no
// transform, and all points take it as their weight.
struct WinogradForm {
    enum class Axes { Both, Rows, Columns };
    int unit, taps;
    Axes axes = Axes::Both;
    int stride = 1;  // or 2

    constexpr bool alongHeight() const { return axes != Axes::Rows; }
    constexpr bool alongWidth() const { return axes != Axes::Columns; }
    constexpr int side() const { return stride * (unit - 1) + taps; }  // of a tile of the input
    constexpr int strideH() const { return alongHeight() ? stride : 1; }
    constexpr int strideW() const { return alongWidth() ? stride : 1; }
    constexpr int unitH() const { return alongHeight() ? unit : 1; }
    constexpr int unitW() const { return alongWidth() ? unit : 1; }
    constexpr int tapsH() const { return alongHeight() ? taps : 1; }
    constexpr int tapsW() const { return alongWidth() ? taps : 1; }
    // The pixels of the input from one tile to the next.
    constexpr int stepH() const { return unitH() * strideH(); }
    constexpr int stepW() const { return unitW() * strideW(); }
    constexpr int sideH() const { return alongHeight() ? side() : 1; }
    constexpr int sideW() const { return alongWidth() ? side() : 1; }
    constexpr int points() const { return sideH() * sideW(); }
    constexpr int weights() const { return tapsH() * tapsW(); }
    // The number of transformed weights: fewer than points where several points share a weight.
    constexpr int lineWeights() const { return stride == 2 && taps == 3 ? unit + 2 : side(); }
    constexpr int weightsH() const { return alongHeight() ? lineWeights() : 1; }
    constexpr int weightsW() const { return alongWidth() ? lineWeights() : 1; }
    constexpr int pointWeights() const { return weightsH() * weightsW(); }
    constexpr int weightOf(int point) const {
        const int y = point / sideW(), x = point % sideW();
        return (y < weightsH() ? y : weightsH() - 1) * weightsW() + (x < weightsW() ? x : weightsW() - 1);
    }
};

// Tiles t0..t1 (row-major over tilesW columns, stepH and stepW pixels apart) of one channel block.
struct WinogradIn {
    const float* src;  // row firstRow of the image; no row before it is read
    int firstRow, ih, iw, padTop, padLeft, stepH, stepW, tilesW, t0, t1;
    bool columns;  // whether the tiles of a form along one axis are parts of columns
    float* dst;    // point p of tile t at dst + p*pointStride + (t - t0)*P
    ptrdiff_t pointStride;
};
struct WinogradOut {
    const float* src;  // as WinogradIn::dst
    ptrdiff_t pointStride;
    int firstRow, firstColumn, oh, ow;  // the outputs that are stored end before oh, ow
    int tilesW, t0, t1;
    bool columns;  // as above
    float* dst;    // of output (0, 0), and the distances between rows and pixels
    ptrdiff_t row, pixel;
    const float* residual;
    const float* bias;  // P floats, never null
    float lo, hi;
    Act act;
};

// The kernels of F(unit, taps) along both axes, or along either one.
struct WinogradTransforms {
    int unit, taps, stride;
    bool both;
    void (*in)(const WinogradIn& args);
    void (*out)(const WinogradOut& args);
    // Transforms g, rows of P floats for each tap (ky, kx), to rows of P floats, pointStride apart, for each of the
    // form's pointWeights().
    void (*weight)(const float* g, float* u, ptrdiff_t pointStride);
};

struct WinogradKernels {
    WinogradTransforms forms[14];
    // Multiplies the values of one point, in `tiles` tiles of a block of input channels, by the weights of that point
    // for a block of output channels: y = v x w, where w has P rows of P floats. `ahead`: weights to prefetch.
    void (*multiplyBlock)(const float* v, const float* w, const float* ahead, float* y, ptrdiff_t tiles);

    // Returns the kernels of a form that is in the list.
    const WinogradTransforms& of(WinogradForm form) const {
        const bool both = form.axes == WinogradForm::Axes::Both;
        const WinogradTransforms* t = forms;
        while (t->unit != form.unit || t->taps != form.taps || t->stride != form.stride || t->both != both) ++t;
        return *t;
    }
};

const WinogradKernels& winogradKernels(Isa isa);

}  // namespace mnnc
