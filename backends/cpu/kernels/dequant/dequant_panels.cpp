// Packs the codes of quantised weights in panels and expands them.
#include "backends/cpu/kernels/dequant/dequant_panels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/pack.h"
#include "base/error.h"

namespace mnnc {

DequantPanels::DequantPanels(const Kernels& k, const WeightQuantization& form, const ConvShape& s, Rows order)
    : k_(&k),
      bits_(form.bits),
      blocks_(form.blocks),
      length_(s.ic * s.kh * s.kw / form.blocks),
      oc_(s.oc),
      ocb_(ceilDiv(s.oc, k.lanes)),
      channels_(s.ic),
      area_(s.kh * s.kw),
      order_(order) {}

size_t DequantPanels::bytes() const {
    return scalesAt({ocb_, 0});
}

std::string DequantPanels::variant() const {
    return format("codes%d.b%d.", bits_, blocks_);
}

size_t DequantPanels::codesAt(const OutPanel& panel) const {
    return size_t(panel.block) * k_->lanes * storedRows();
}

size_t DequantPanels::scalesAt(const OutPanel& panel) const {
    return wholeLines(codesAt({ocb_, 0})) + size_t(panel.block) * k_->lanes * 2 * blocks_ * sizeof(float);
}

// Stores the codes of one output channel in the order of the rows. Codes of 4 bits are stored in pairs, the even one in
// the low half.
void DequantPanels::storedBytes(const int8_t* from, uint8_t* to) const {
    const int count = rows(), channels = channels_, area = area_;
    std::vector<int8_t> ordered;
    if (order_ == Rows::TapMajor && area > 1) {
        ordered.resize(static_cast<size_t>(count));
        int8_t* next = ordered.data();
        for (int tap = 0; tap < area; ++tap)
            for (int c = 0; c < channels; ++c) *next++ = from[size_t(c) * area + tap];
        from = ordered.data();
    }
    if (bits_ == 8) {
        std::memcpy(to, from, static_cast<size_t>(count));
        return;
    }
    for (int i = 0; i < count / 2; ++i) to[i] = static_cast<uint8_t>((from[2 * i] + 8) | (from[2 * i + 1] + 8) << 4);
    if (count % 2) to[count / 2] = static_cast<uint8_t>(from[count - 1] + 8);
}

void DequantPanels::pack(const QuantizedWeightsView& weights, int begin, const OutPanel& panel, void* packed) const {
    const int P = k_->lanes, width = panel.nb * P, first = panel.block * P, real = std::min(width, oc_ - first);
    auto* codes = static_cast<uint8_t*>(packed) + codesAt(panel);
    // The bytes of each output channel form a row of fours, which are transposed and separated.
    const size_t stored = static_cast<size_t>(storedRows()), fours = (stored + 3) / 4;
    std::vector<float> lines(size_t(P) * fours), columns(lines.size());
    for (int b = 0; b < panel.nb; ++b, codes += P) {
        const int lanes = std::min(P, oc_ - (first + b * P));
        for (int l = 0; l < lanes; ++l)
            storedBytes(weights.codes.data() + size_t(first - begin + b * P + l) * rows(),
                        reinterpret_cast<uint8_t*>(lines.data() + l * fours));
        k_->pack->rowsToBlock(lines.data(), fours, lanes, fours, columns.data());
        for (size_t row = 0; row < stored; row += 4) {
            uint8_t bytes[4][16];
            for (int l = 0; l < P; ++l) {
                const auto four = std::bit_cast<std::array<uint8_t, 4>>(columns[row / 4 * P + l]);
                for (size_t i = 0; i < 4; ++i) bytes[i][l] = four[i];
            }
            for (size_t i = 0; i < std::min<size_t>(4, stored - row); ++i)
                std::memcpy(codes + (row + i) * width, bytes[i], static_cast<size_t>(P));
        }
    }
    auto* scales = reinterpret_cast<float*>(static_cast<char*>(packed) + scalesAt(panel));
    for (int block = 0; block < blocks_; ++block, scales += 2 * width) {
        for (int l = 0; l < width; ++l) {
            const size_t at = size_t(first - begin + l) * blocks_ + block;
            scales[l] = l < real ? weights.scales[at] : 0.0f;
            scales[width + l] = l < real && !weights.minima.empty() ? weights.minima[at] : 0.0f;
        }
    }
}

void DequantPanels::expand(const void* packed, const OutPanel& panel, int first, int count, float* out) const {
    const int width = panel.nb * k_->lanes;
    const auto* codes = static_cast<const uint8_t*>(packed) + codesAt(panel);
    const auto* scales = reinterpret_cast<const float*>(static_cast<const char*>(packed) + scalesAt(panel));
    const int step = order_ == Rows::TapMajor ? area_ : 1;
    for (int row = first; row < first + count;) {
        // Rows that share a block of scales are expanded together.
        const int at = position(row), block = at / length_;
        int n = std::min(first + count - row, ((block + 1) * length_ - at + step - 1) / step);
        if (order_ == Rows::TapMajor) n = std::min(n, channels_ - row % channels_);
        const float* scale = scales + size_t(block) * 2 * width;
        if (bits_ == 8)
            k_->dequant->s8(reinterpret_cast<const int8_t*>(codes) + size_t(row) * width, n, width, scale,
                            scale + width, out);
        else
            k_->dequant->s4(codes, row, n, width, scale, scale + width, out);
        out += size_t(n) * width;
        row += n;
    }
}

void DequantPanels::expand(const void* packed, const OutPanel& panel, uint16_t* out) const {
    constexpr int kRows = 32;
    alignas(64) float rows[(kRows + 1) * 4 * 16];
    const int width = panel.nb * k_->lanes;
    for (int tap = 0; tap < area_; ++tap) {
        for (int c = 0; c < channels_; c += kRows) {
            const int n = std::min(kRows, channels_ - c);
            expand(packed, panel, tap * channels_ + c, n, rows);
            if (n % 2) std::fill_n(rows + size_t(n) * width, width, 0.0f);
            for (int i = 0; i < n; i += 2, out += 2 * width)
                k_->bf16->interleave(rows + size_t(i) * width, rows + size_t(i + 1) * width, width, out);
        }
    }
}

}  // namespace mnnc
