// Exact Winograd convolutions of int8, F(4x4, 3x3) (Lavin and Gray, arXiv 1509.09308): a quarter of the products, each
// of 16 bits.
//
// Transformed inputs and weights are integers that fit 16 bits; the sums of their products wrap. A result between -2^25
// and 2^25 can be recovered from sums modulo 2^32, and with kInt8WinogradChannels input channels no result leaves that
// range. With more channels, results of parts of the channels are recovered and added.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/int8/int8_kernels.h"

namespace mnnc {

constexpr int kInt8WinogradTile = 6;  // pixels of the input in each direction
constexpr int kInt8WinogradPoints = kInt8WinogradTile * kInt8WinogradTile;
constexpr int kInt8WinogradOutputs = kInt8WinogradTile - 2;  // of a tile, in each direction
constexpr int kInt8WinogradTaps = 9;
// Divisible into pairs of blocks of any instruction set: 224 * 9 products of 128 * 128 stay below 2^25.
constexpr int kInt8WinogradChannels = 224;

// The input of tiles t0 .. t1 - 1 of an image, numbered row by row, for two blocks of channels.
struct Int8WinogradInput {
    const int8_t* src;      // the first block
    ptrdiff_t blockStride;  // to the second; 0 where there is none, and its results are multiplied by no weights
    int ih, iw, padTop, padLeft, tilesW;
    int padding;  // the value outside the map
    int t0, t1;
    int16_t* dst;           // [point][tile][2 P]
    ptrdiff_t pointStride;  // numbers
};

// The weights of pairs of input channels for a block of output channels.
struct Int8WinogradWeights {
    const int8_t* codes;  // [step][tap][P][2]
    int steps;
    int16_t* dst;  // [point][step][P][2]
    ptrdiff_t stepStride, pointStride;
};

// The output of tiles t0 .. t1 - 1 of an image, for a block of output channels.
struct Int8WinogradOutput {
    const int32_t* src;  // [part][point][tile][P]
    ptrdiff_t pointStride, partStride;
    int parts;  // of the input channels
    int oh, ow, tilesW;
    int t0, t1;
    const int32_t* first;  // the initial value of the sums of each channel
    // the operations after the sums, the place of the block's first result, and the other arguments
    const Int8PanelArgs* post;
};

struct Int8WinogradTransforms {
    void (*input)(const Int8WinogradInput& args);
    void (*weights)(const Int8WinogradWeights& args);
    void (*output)(const Int8WinogradOutput& args);
};
const Int8WinogradTransforms* int8WinogradTransforms(Isa isa);  // null: there are none

}  // namespace mnnc
