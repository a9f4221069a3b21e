// The weights of convolutions by matrix products: their partition into panels, their order in memory, packing them, and
// expanding quantised ones.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/cpu/kernels/conv/conv.h"
#include "backends/cpu/kernels/conv/conv_phases.h"
#include "backends/cpu/kernels/dequant/dequant_panels.h"

namespace mnnc {

// Some blocks of output channels and the inputs that they read. A run is a piece of the source that is contiguous: the
// channels of a tap, or in a first layer the taps of a kernel row.
struct GemmPanel {
    int block, nb;
    int inBlock;           // first block of input channels read
    int length;            // elements of a run
    int fullBlocks, tail;  // the length in blocks of channels, and the elements behind them
};

struct GemmWeightOptions {
    int groups = 1;
    bool transposed = false;
    bool bf16 = false;
    bool onePacking = false;          // see ConvOptions
    int rowTaps = 0;                  // first layer: taps in a run; 0: a run is the channels of a tap
    WeightQuantization quantization;  // bits of 0: the weights are packed as floats or bf16
};

// Order in memory: [phase][panel][run][element of the run][output channel of the panel], as bf16 in pairs of elements;
// or the codes of DequantPanels.
class GemmConvWeights {
  public:
    // `pixels`: the number that a product takes. Throws NotSupported where there are too many phases and panels.
    GemmConvWeights(const Kernels& k, const ConvShape& shape, const GemmWeightOptions& options,
                    std::vector<ConvPhase> phases, int pixels);

    const std::vector<ConvPhase>& phases() const { return phases_; }
    const std::vector<GemmPanel>& panels() const { return panels_; }
    int runs(const ConvPhase& phase) const;
    bool quantized() const { return dequant_.used(); }
    size_t packedBytes() const { return quantized() ? dequant_.bytes() : elements_ * elementBytes(); }
    size_t expandedBytes() const;  // memory that panel() needs, whole cache lines; 0 unless quantised
    std::string variant() const;
    std::string suffix() const { return dequant_.suffix(); }  // for algorithm()

    void pack(const WeightReader& weights, void* packed, ThreadPool& pool) const;
    void packQuantized(QuantizedWeightReader& weights, void* packed, ThreadPool& pool) const;

    // Returns panel i of a phase; quantised ones are expanded into `expanded`. T: float, or uint16_t for bf16.
    template <typename T>
    const T* panel(const void* packed, size_t phase, int i, void* expanded) const {
        if (!quantized()) return static_cast<const T*>(packed) + offsetOf(phase, i);
        auto* out = static_cast<T*>(expanded);
        dequant_.expand(packed, {panels_[i].block, panels_[i].nb}, out);
        return out;
    }

    // Returns whether panel i + 1 reads the same input, follows panel i in memory and has its form.
    bool alike(int i) const {
        const GemmPanel &one = panels_[i], &next = panels_[i + 1];
        return !quantized() && one.block + one.nb == next.block && one.nb == next.nb && one.inBlock == next.inBlock &&
               one.length == next.length;
    }

  private:
    size_t elementBytes() const { return options_.bf16 ? sizeof(uint16_t) : sizeof(float); }
    size_t offsetOf(size_t phase, int panel) const { return offsets_[phase * panels_.size() + panel]; }
    bool wholeGroups() const;  // whether each panel holds channels of one group only
    void makePanels(int pixels);
    void addPanel(OutPanel out, int firstChannel, int endChannel);
    // `weights`: those of the panel's outputs; for a transposed convolution all weights.
    template <typename T>
    void packPanel(const float* weights, T* out, const ConvPhase& phase, const GemmPanel& p) const;
    template <typename T>
    void packRows(const float* weights, T* out, const GemmPanel& p) const;

    const Kernels& k_;
    const ConvShape s_;
    const GemmWeightOptions options_;
    const std::vector<ConvPhase> phases_;
    DequantPanels dequant_;
    int panelBlocks_ = 1;
    std::vector<GemmPanel> panels_;
    std::vector<size_t> offsets_;                // the beginning of each panel of each phase
    size_t elements_ = 0, largestElements_ = 0;  // of all panels and of the largest
};

}  // namespace mnnc
