// Weights that stay quantised in memory: panels of int8 or int4 codes with the scale and the minimum of each
// output channel (or block of one), expanded to floats or bf16 pairs right before a product uses them.
#pragma once
#include <vector>

#include "backends/cpu/kernels/conv_plan.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/out_panel.h"

namespace mnnc {

class DequantPanels {
  public:
    // The order of a panel's rows: [channel][tap] as in the model, or [tap][channel].
    enum class Rows { ChannelMajor, TapMajor };

    DequantPanels() = default;
    DequantPanels(const Kernels& k, const WeightQuantization& form, const ConvShape& shape, Rows order);

    bool used() const { return k_ != nullptr; }
    int rows() const { return channels_ * area_; }
    size_t bytes() const;
    std::string variant() const;
    std::string suffix() const { return !used() ? "" : bits_ == 4 ? ".w4" : ".w8"; }  // for algorithm()

    // Packs a panel; `weights` begin with those of channel `begin`.
    void pack(const QuantizedWeightsView& weights, int begin, const OutPanel& panel, void* packed) const;
    // Expands rows first .. first + count of the panel to [count][width] floats.
    void expand(const void* packed, const OutPanel& panel, int first, int count, float* out) const;
    // Expands all rows of a panel in TapMajor order as the panel kernels take them: each tap's channels in whole pairs.
    void expand(const void* packed, const OutPanel& panel, uint16_t* out) const;
    void expand(const void* packed, const OutPanel& panel, float* out) const { expand(packed, panel, 0, rows(), out); }

  private:
    int storedRows() const { return bits_ == 4 ? (rows() + 1) / 2 : rows(); }  // bytes per output channel
    // Returns the position of a row's weight among those of its output channel.
    int position(int row) const { return order_ == Rows::TapMajor ? row % channels_ * area_ + row / channels_ : row; }
    void storedBytes(const int8_t* from, uint8_t* to) const;
    size_t codesAt(const OutPanel& panel) const;
    size_t scalesAt(const OutPanel& panel) const;  // [block][scales, offsets]

    const Kernels* k_ = nullptr;
    int bits_ = 8, blocks_ = 1, length_ = 1;
    int oc_ = 0, ocb_ = 0, channels_ = 0, area_ = 1;
    Rows order_ = Rows::ChannelMajor;
};

}  // namespace mnnc
