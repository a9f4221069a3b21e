// The weights of W8A16 convolutions: their order in memory, and packing them.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "backends/cpu/kernels/conv/conv.h"
#include "backends/cpu/kernels/out_panel.h"
#include "backends/cpu/kernels/w8a16/w8a16_kernels.h"
#include "backends/cpu/kernels/w8a16/w8a16_packing.h"

namespace mnnc {

// First come the codes in the order of the panels, in the form that their kernels take. For all channels, the scales,
// the scaled sums of the codes and the minima follow; scales and minima of blocks are [panel][block][channel].
class W8A16Weights {
  public:
    W8A16Weights(const Kernels& k, const ConvShape& shape, const WeightQuantization& form,
                 std::vector<OutPanel> panels);

    int64_t bytes() const;
    std::string variant() const;
    void pack(QuantizedWeightReader& weights, void* packed, ThreadPool& pool) const;
    // Sets the weights of the panel, their scales and blocks.
    void describe(const void* packed, const OutPanel& panel, W8A16PanelArgs& args) const;
    // Returns how many blocks of P input channels share the scales of a block of weights. Where the weights are a
    // single block, it is the largest int, so that no kernel reaches the end of the block.
    int blockLength() const {
        return form_.blocks > 1 ? s_.ic / k_.lanes / form_.blocks : std::numeric_limits<int>::max();
    }

  private:
    int64_t channels() const { return ocb_ * int64_t{k_.lanes}; }
    int area() const { return s_.kh * s_.kw; }
    // Returns the bytes of an output channel at a tap: whole pairs or fours of bytes, with 4 bits whole groups of eight
    // codes.
    int64_t tapBytes() const {
        const int together = k_.w8a16->together;
        return form_.bits == 8 ? (int64_t{s_.ic} + together - 1) / together * together : (int64_t{s_.ic} + 7) / 8 * 4;
    }
    size_t codesAt(const OutPanel& panel) const { return size_t(panel.block) * k_.lanes * area() * size_t(tapBytes()); }
    float* scalesOf(void* packed) const { return reinterpret_cast<float*>(static_cast<char*>(packed) + codeBytes_); }
    float* codeSumsOf(void* packed) const { return scalesOf(packed) + channels() * form_.blocks; }
    float* minimaOf(void* packed) const { return codeSumsOf(packed) + channels(); }
    struct Source;
    void packPanel(const Source& source, const OutPanel& panel, void* packed) const;
    void packRows(const uint32_t* rows, size_t stride, int real, uint8_t* to, ptrdiff_t lineBytes,
                  int64_t* codeSums) const;
    void packPerBlock(const float* from, const OutPanel& panel, float* to) const;
    void clearLanes(uint8_t* codes, const OutPanel& panel, int b, int real) const;
    void sumCodes(const int64_t* codeSums, const float* scales, const float* minima, int width, int real,
                  float* sums) const;

    const Kernels& k_;
    const ConvShape s_;
    const WeightQuantization form_;
    const W8A16Packing* const packing_;
    const int ocb_;
    const std::vector<OutPanel> panels_;
    int64_t codeBytes_ = 0;
};

}  // namespace mnnc
