// The weights of Winograd convolutions: transformed when they are packed, or in each run from their taps, which are
// floats or quantised.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/cpu/kernels/conv/conv.h"
#include "backends/cpu/kernels/dequant/dequant_panels.h"
#include "backends/cpu/kernels/winograd/winograd_kernels.h"

namespace mnnc {

struct WinogradWeightOptions {
    WinogradForm form{2, 3};
    bool bf16 = false;
    int panelBlocks = 1;
    int sliceBlocks = 1;  // of panels for which slices are cut: sums depend on slices, and must not on threads
    WeightQuantization quantization;
    // Whether floats are stored as taps, like quantised weights: for F(4) a quarter of the memory, and less to read.
    bool taps = false;
    // Whether a run transforms taps panel by panel, when a panel is multiplied, a slice of channels at a time.
    // Otherwise it transforms all of them first.
    bool perPanel = false;
};

// Returns the channels of a slice of a panel whose transformed weights, `channelBytes` bytes for each channel, stay in
// the second level cache.
int winogradSlice(const Kernels& k, int channelBytes);

struct ChannelRange {
    int begin, end;
};

// Order of transformed weights: [weight of a point][panel][input channel][output channel of the panel], as bf16 in
// pairs of input channels. Order of taps of floats: [block of output channels][input channel][tap][output channel of
// the block].
class WinogradWeights {
  public:
    WinogradWeights(const Kernels& k, const ConvShape& shape, const WinogradWeightOptions& options);

    const std::vector<OutPanel>& panels() const { return panels_; }
    bool quantized() const { return dequant_.used(); }
    // Returns whether the packed weights are taps, which a run transforms.
    bool expands() const { return quantized() || options_.taps; }
    bool perPanel() const { return expands() && options_.perPanel; }
    size_t packedBytes() const;
    size_t expandedBytes() const;         // memory for expandAll(), or with perPanel() for expandPanel()
    int slice() const { return slice_; }  // channels that expandPanel() makes at a time
    std::string variant() const;
    std::string suffix() const { return options_.taps ? ".taps" : dequant_.suffix(); }  // for algorithm()

    void pack(const WeightReader& weights, void* packed, ThreadPool& pool) const;
    void packQuantized(QuantizedWeightReader& weights, void* packed, ThreadPool& pool) const;

    // A panel's weights, and the distance between those of points that do not share them. T: float, or uint16_t for
    // bf16.
    template <typename T>
    struct Panel {
        const T* data;
        size_t point;
    };
    // `weights`: the result of pack() or expandAll().
    template <typename T>
    Panel<T> storedPanel(const void* weights, const OutPanel& panel) const {
        return {static_cast<const T*>(weights) + size_t(panel.block) * k_.lanes * rows(s_.ic), pointElements()};
    }
    void expandAll(const void* packed, void* out, ThreadPool& pool) const;
    template <typename T>
    Panel<T> expandPanel(const void* packed, const OutPanel& panel, ChannelRange channels, void* out) const;
    // Returns where part `part` of `parts` of the taps begins that expandPanel() reads, or null for quantised ones.
    const float* tapsPart(const void* packed, const OutPanel& panel, ChannelRange channels, int part, int parts) const;

  private:
    size_t elementBytes() const { return options_.bf16 ? sizeof(uint16_t) : sizeof(float); }
    int rows(int channels) const { return options_.bf16 ? (channels + 1) / 2 * 2 : channels; }
    size_t pointStride(int blocks, int channels) const;
    size_t pointElements() const { return pointStride(blocks_, s_.ic); }
    size_t blockTaps() const { return size_t(s_.ic) * options_.form.weights() * k_.lanes; }  // floats of a block
    // Calls body(the source of a block's taps).
    template <typename Body>
    void withTaps(const void* packed, int block, Body&& body) const;
    void transformStored(const void* packed, const OutPanel& panel, ChannelRange channels, float* out,
                         ptrdiff_t point) const;
    template <typename Taps>
    void transformBlock(void* packed, int block, Taps& taps) const;
    template <typename Taps>
    void transform(const OutPanel& panel, int block, Taps& taps, ChannelRange channels, float* out,
                   ptrdiff_t point) const;
    template <typename Taps>
    void transform(const OutPanel& panel, int block, Taps& taps, ChannelRange channels, uint16_t* out,
                   ptrdiff_t point) const;

    const Kernels& k_;
    const ConvShape s_;
    const WinogradWeightOptions options_;
    const int pointWeights_, blocks_;
    const std::vector<OutPanel> panels_;
    DequantPanels dequant_;
    int slice_ = 0;
};

}  // namespace mnnc
