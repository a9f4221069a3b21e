// Products of 16-bit activations with weights of 8 or 4 bits by a matrix unit: the numbers of the panel kernels
// (w8a16_kernels.h), bit for bit, for many pixels at a time.
//
// Both operands are first packed into tiles of 16 rows of 64 bytes. A tile of the input has 16 pixels, in pairs: the
// upper bytes of the 16-bit numbers, then the lower ones. A tile of codes has 16 outputs, four channels of each in a
// row.
#pragma once
#include <vector>

#include "backends/cpu/kernels/w8a16/w8a16_kernels.h"

namespace mnnc {

constexpr int kMatrixRows = 16;  // pixels of a tile
constexpr int kMatrixTileBytes = kMatrixRows * 64;

// Channels that are multiplied together.
struct MatrixStep {
    int block, blocks;  // the first block of P channels, and how many they are
    bool ends;          // the sums are scaled behind it: otherwise they might not fit 32 bits
    bool endsBlock;     // the step ends, and the weights of the next one have other scales
};

struct MatrixSteps {
    const MatrixStep* list;
    int count;
    int width;  // blocks of P channels for which a tile has room
};

struct MatrixInput {
    const int16_t* data;  // of the first pixel
    ptrdiff_t blockStride;
    int pixels;  // the rows of the last tile that have none are zero
    MatrixSteps steps;
};

struct MatrixCodes {
    const int8_t* codes;  // of a panel: W8A16PanelArgs::w
    int nb, channels;
    MatrixSteps steps;
};

struct W8A16MatrixKernels {
    // Write a pair of tiles for each step, for one group of 16 pixels after another.
    void (*packInput8)(const MatrixInput& input, uint8_t* to);
    void (*packInput4)(const MatrixInput& input, uint8_t* to);
    // Write a tile for each step, for one block of outputs after another.
    void (*packCodes8)(const MatrixCodes& codes, uint8_t* to);
    void (*packCodes4)(const MatrixCodes& codes, uint8_t* to);
    // `input`: of the pixels of the panel, from the first one on. Neither panel.a nor panel.w is read.
    void (*panel)(const W8A16PanelArgs& panel, const MatrixSteps& steps, const uint8_t* input, const uint8_t* codes);
};

// The steps of a product, and the memory of its operands.
class MatrixProduct {
  public:
    // The weights have `channels` channels in blocks of P. Every `blockLength` of these blocks have their own scales.
    MatrixProduct(int channels, int lanes, int blockLength, int bits);

    MatrixSteps steps() const { return {steps_.data(), static_cast<int>(steps_.size()), width_}; }
    int64_t inputBytes(int pixels) const {
        return (int64_t{pixels} + kMatrixRows - 1) / kMatrixRows * static_cast<int64_t>(steps_.size()) * 2 *
               kMatrixTileBytes;
    }
    int64_t codeBytes(int blocks) const {
        return int64_t{blocks} * static_cast<int64_t>(steps_.size()) * kMatrixTileBytes;
    }

  private:
    std::vector<MatrixStep> steps_;
    int width_ = 1;
};

// Returns null where the CPU or this build has no matrix unit, or where the system does not let this process use it.
// The first call asks the system.
const W8A16MatrixKernels* w8a16MatrixKernels();

}  // namespace mnnc
