// The forms of Winograd convolutions, and the kernels that transform their tiles.
#pragma once
#include <cstddef>

#include "backends/cpu/kernels/conv_types.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// F(unit x unit, taps x taps), or F(unit, taps) along the rows or the columns of a map, for windows of 1 x taps and
// taps x 1.
struct WinogradForm {
    enum class Axes { Both, Rows, Columns };
    int unit, taps;
    Axes axes = Axes::Both;

    constexpr bool alongHeight() const { return axes != Axes::Rows; }
    constexpr bool alongWidth() const { return axes != Axes::Columns; }
    constexpr int side() const { return unit + taps - 1; }  // of a tile of the input
    constexpr int unitH() const { return alongHeight() ? unit : 1; }
    constexpr int unitW() const { return alongWidth() ? unit : 1; }
    constexpr int tapsH() const { return alongHeight() ? taps : 1; }
    constexpr int tapsW() const { return alongWidth() ? taps : 1; }
    constexpr int sideH() const { return alongHeight() ? side() : 1; }
    constexpr int sideW() const { return alongWidth() ? side() : 1; }
    constexpr int points() const { return sideH() * sideW(); }
    constexpr int weights() const { return tapsH() * tapsW(); }
};

// Tiles t0..t1 (row-major over tilesW columns, unitH and unitW pixels apart) of one channel block.
struct WinogradIn {
    const float* src;  // row firstRow of the image; no row before it is read
    int firstRow, ih, iw, padTop, padLeft, unitH, unitW, tilesW, t0, t1;
    bool columns;  // whether the tiles of a form along one axis are parts of columns
    float* dst;    // point p of tile t at dst + p*pointStride + (t - t0)*P
    ptrdiff_t pointStride;
};
struct WinogradOut {
    const float* src;  // as WinogradIn::dst
    ptrdiff_t pointStride;
    int oh, ow, tilesW, t0, t1;
    bool columns;  // as above
    float* dst;
    const float* residual;
    const float* bias;  // P floats, never null
    float lo, hi;
    Act act;
};

// The kernels of F(unit, taps) along both axes, or along either one.
struct WinogradTransforms {
    int unit, taps;
    bool both;
    void (*in)(const WinogradIn& args);
    void (*out)(const WinogradOut& args);
    // Transforms g, rows of P floats for each weight (ky, kx), to a row of P floats for each point, pointStride apart.
    void (*weight)(const float* g, float* u, ptrdiff_t pointStride);
};

struct WinogradKernels {
    WinogradTransforms forms[8];

    // Returns the kernels of a form that is in the list.
    const WinogradTransforms& of(WinogradForm form) const {
        const WinogradTransforms* t = forms;
        while (t->unit != form.unit || t->taps != form.taps || t->both != (form.axes == WinogradForm::Axes::Both)) ++t;
        return *t;
    }
};

const WinogradKernels& winogradKernels(Isa isa);

}  // namespace mnnc
