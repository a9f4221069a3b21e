// Transforms weights block by block, from floats or from quantised ones.
#include "backends/cpu/kernels/winograd/winograd_weights.h"

#include <algorithm>
#include <type_traits>

#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/conv_packing.h"
#include "backends/cpu/kernels/gemm/panels.h"
#include "backends/cpu/kernels/pack.h"
#include "base/error.h"

namespace mnnc {
namespace {

constexpr int kMaxWeights = 25;  // of a channel

// Provides the taps of one channel after the other for one block of output channels: rows of P floats. Both classes
// make them for a few channels at a time.
class FloatTaps {
  public:
    // `weights`: those of the block.
    FloatTaps(const Kernels& k, const float* weights, const ConvShape& s, int block)
        : pack_(*k.pack),
          weights_(weights),
          each_(s.kh * s.kw),
          ic_(s.ic),
          lanes_(k.lanes),
          real_(std::min(k.lanes, s.oc - block * k.lanes)) {}

    const float* channel(int c) {
        if (c % kChannels == 0)
            pack_.rowsToBlock(weights_ + size_t(c) * each_, size_t(ic_) * each_, real_,
                              size_t(std::min(kChannels, ic_ - c)) * each_, taps_);
        return taps_ + c % kChannels * each_ * lanes_;
    }

  private:
    static constexpr int kChannels = 8;
    alignas(64) float taps_[kChannels * kMaxWeights * 16];
    const PackKernels& pack_;
    const float* weights_;
    int each_, ic_, lanes_, real_;
};

// Provides the taps that pack() stored.
class StoredTaps {
  public:
    StoredTaps(const float* block, int channelFloats) : block_(block), stride_(size_t(channelFloats)) {}
    const float* channel(int c) const { return block_ + size_t(c) * stride_; }

  private:
    const float* block_;
    size_t stride_;
};

class QuantizedTaps {
  public:
    QuantizedTaps(const DequantPanels& panels, const void* packed, int each, int lanes, int block)
        : panels_(panels), packed_(packed), each_(each), lanes_(lanes), block_{block, 1} {}

    const float* channel(int c) {
        if (c % kChannels == 0)
            panels_.expand(packed_, block_, c * each_, std::min(kChannels * each_, panels_.rows() - c * each_), taps_);
        return taps_ + c % kChannels * each_ * lanes_;
    }

  private:
    static constexpr int kChannels = 8;
    alignas(64) float taps_[kChannels * kMaxWeights * 16];
    const DequantPanels& panels_;
    const void* packed_;
    int each_, lanes_;
    OutPanel block_;
};

}  // namespace

int winogradSlice(const Kernels& k, int channelBytes) {
    return static_cast<int>(std::max<int64_t>(k.costs->cache.winogradPanel / channelBytes, 64)) / 16 * 16;
}

WinogradWeights::WinogradWeights(const Kernels& k, const ConvShape& shape, const WinogradWeightOptions& options)
    : k_(k),
      s_(shape),
      options_(options),
      pointWeights_(options.form.pointWeights()),
      blocks_(ceilDiv(shape.oc, k.lanes)),
      panels_(splitPanels(0, blocks_, options.panelBlocks)) {
    if (options.quantization.bits)
        dequant_ = DequantPanels(k, options.quantization, shape, DequantPanels::Rows::ChannelMajor);
    if (!perPanel()) return;
    slice_ = winogradSlice(k, pointWeights_ * options.sliceBlocks * k.lanes * static_cast<int>(elementBytes()));
}

size_t WinogradWeights::packedBytes() const {
    if (quantized()) return dequant_.bytes();
    return options_.taps ? blocks_ * blockTaps() * sizeof(float) : pointElements() * pointWeights_ * elementBytes();
}

size_t WinogradWeights::expandedBytes() const {
    if (!expands()) return 0;
    const size_t stride =
        options_.perPanel ? pointStride(options_.panelBlocks, std::min(slice_, s_.ic)) : pointElements();
    return wholeLines(stride * pointWeights_ * elementBytes());
}

// Returns the elements from one point's weights to the next one's: channels in whole pairs for bf16, and an odd number
// of cache lines, because all points of a channel are written at a time.
size_t WinogradWeights::pointStride(int blocks, int channels) const {
    const size_t line = 64 / elementBytes();
    return ((size_t(blocks) * k_.lanes * rows(channels) + line - 1) / line | 1) * line;
}

std::string WinogradWeights::variant() const {
    if (quantized()) return dequant_.variant() + format("winograd.p%d", k_.lanes);
    if (options_.taps) return format("winograd.taps.p%d", k_.lanes);
    return format("winograd%d.%s%s%sp%d.n%d", options_.form.unit, options_.form.stride == 1 ? "" : "strided.",
                  options_.bf16 ? k_.bf16->type : "", options_.bf16 ? "." : "", k_.lanes, options_.panelBlocks);
}

void WinogradWeights::pack(const WeightReader& weights, void* packed, ThreadPool& pool) const {
    const auto end = [&](int b) {
        return size_t(std::min(s_.oc, (b + 1) * k_.lanes)) * s_.ic * options_.form.weights();
    };
    packInChunks(k_, pool, blocks_, weights, end, [&](int b, const float* own) {
        if (options_.taps) {
            const size_t line = size_t(s_.ic) * options_.form.weights();
            k_.pack->rowsToBlock(own, line, std::min(k_.lanes, s_.oc - b * k_.lanes), line,
                                 static_cast<float*>(packed) + b * blockTaps());
            return;
        }
        FloatTaps taps(k_, own, s_, b);
        transformBlock(packed, b, taps);
    });
}

void WinogradWeights::packQuantized(QuantizedWeightReader& weights, void* packed, ThreadPool& pool) const {
    packPartsInChunks(
        k_, pool, blocks_, static_cast<size_t>(dequant_.rows()),
        [&](int first, int count) { return weights.read(first, count); },
        [&](int b) { return std::min(s_.oc, (b + 1) * k_.lanes); },
        [&](int b, const QuantizedWeightsView& own, int first) {
            dequant_.pack(own, first, {b, 1}, packed);
        });
}

void WinogradWeights::expandAll(const void* packed, void* out, ThreadPool& pool) const {
    parallelFor(pool, blocks_, [&](int b) { withTaps(packed, b, [&](auto&& taps) { transformBlock(out, b, taps); }); });
}

template <typename Body>
void WinogradWeights::withTaps(const void* packed, int block, Body&& body) const {
    if (quantized())
        body(QuantizedTaps(dequant_, packed, options_.form.weights(), k_.lanes, block));
    else
        body(StoredTaps(static_cast<const float*>(packed) + block * blockTaps(), options_.form.weights() * k_.lanes));
}

template <typename T>
WinogradWeights::Panel<T> WinogradWeights::expandPanel(const void* packed, const OutPanel& panel, ChannelRange channels,
                                                       void* out) const {
    const size_t point = pointStride(panel.nb, channels.end - channels.begin);
    if constexpr (std::is_same_v<T, float>) {
        if (!quantized()) {
            transformStored(packed, panel, channels, static_cast<float*>(out), static_cast<ptrdiff_t>(point));
            return {static_cast<const T*>(out), point};
        }
    }
    for (int b = panel.block; b < panel.block + panel.nb; ++b)
        withTaps(packed, b, [&](auto&& taps) {
            transform(panel, b, taps, channels, static_cast<T*>(out), static_cast<ptrdiff_t>(point));
        });
    return {static_cast<const T*>(out), point};
}

template WinogradWeights::Panel<float> WinogradWeights::expandPanel(const void*, const OutPanel&, ChannelRange,
                                                                    void*) const;
template WinogradWeights::Panel<uint16_t> WinogradWeights::expandPanel(const void*, const OutPanel&, ChannelRange,
                                                                       void*) const;

// The blocks of a panel lie side by side: transforming them channel by channel fills whole cache lines.
void WinogradWeights::transformStored(const void* packed, const OutPanel& panel, ChannelRange channels, float* out,
                                      ptrdiff_t point) const {
    const int P = k_.lanes, taps = options_.form.weights() * P;
    const auto weight = k_.winograd->of(options_.form).weight;
    const float* const first = static_cast<const float*>(packed) + panel.block * blockTaps();
    for (int c = channels.begin; c < channels.end; ++c)
        for (int b = 0; b < panel.nb; ++b, out += P) weight(first + b * blockTaps() + size_t(c) * taps, out, point);
}

const float* WinogradWeights::tapsPart(const void* packed, const OutPanel& panel, ChannelRange channels, int part,
                                       int parts) const {
    if (quantized()) return nullptr;
    const size_t channel = size_t(options_.form.weights()) * k_.lanes, each = (channels.end - channels.begin) * channel;
    const size_t at = each * panel.nb * part / parts;
    return static_cast<const float*>(packed) + (panel.block + at / each) * blockTaps() + channels.begin * channel +
           at % each;
}

// Transforms a block of output channels to its place among all panels' weights.
template <typename Taps>
void WinogradWeights::transformBlock(void* packed, int block, Taps& taps) const {
    const OutPanel* panel = panels_.data();
    while (block >= panel->block + panel->nb) ++panel;
    const size_t at = size_t(panel->block) * k_.lanes * rows(s_.ic);
    const auto point = static_cast<ptrdiff_t>(pointElements());
    if (options_.bf16)
        transform(*panel, block, taps, {0, s_.ic}, static_cast<uint16_t*>(packed) + at, point);
    else
        transform(*panel, block, taps, {0, s_.ic}, static_cast<float*>(packed) + at, point);
}

// Transforms a block of a panel that begins at `out`.
template <typename Taps>
void WinogradWeights::transform(const OutPanel& panel, int block, Taps& taps, ChannelRange channels, float* out,
                                ptrdiff_t point) const {
    const int P = k_.lanes, width = panel.nb * P;
    const auto weight = k_.winograd->of(options_.form).weight;
    out += (block - panel.block) * P;
    for (int c = channels.begin; c < channels.end; ++c, out += width) weight(taps.channel(c), out, point);
}

template <typename Taps>
void WinogradWeights::transform(const OutPanel& panel, int block, Taps& taps, ChannelRange channels, uint16_t* out,
                                ptrdiff_t point) const {
    const int P = k_.lanes, width = panel.nb * P;
    const auto weight = k_.winograd->of(options_.form).weight;
    out += (block - panel.block) * 2 * P;
    alignas(64) float u[2][64 * 16];
    for (int c = channels.begin; c < channels.end; c += 2, out += 2 * width) {
        weight(taps.channel(c), u[0], P);
        if (c + 1 < channels.end)
            weight(taps.channel(c + 1), u[1], P);
        else
            std::fill(u[1], u[1] + pointWeights_ * P, 0.0f);
        for (int i = 0; i < pointWeights_; ++i) k_.bf16->interleave(u[0] + i * P, u[1] + i * P, P, out + i * point);
    }
}

}  // namespace mnnc
