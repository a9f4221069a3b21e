// Packs the weights of W8A16 convolutions.
#include "backends/cpu/kernels/w8a16/w8a16_weights.h"

#include <bit>
#include <cstring>
#include <utility>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/int8/int8_codes.h"
#include "backends/cpu/kernels/pack.h"
#include "base/checked.h"
#include "base/error.h"

namespace mnnc {
namespace {

int64_t sumOf(const int8_t* codes, int64_t count) {
    constexpr int64_t kPiece = 1 << 16;  // its sum fits 32 bits
    int64_t sum = 0;
    for (int64_t at = 0; at < count; at += kPiece) {
        const int n = static_cast<int>(std::min(kPiece, count - at));
        int32_t piece = 0;
        for (int i = 0; i < n; ++i) piece += codes[at + i];
        sum += piece;
    }
    return sum;
}

// Returns eight codes of 4 bits as kernels read them, the first ones lowest (hosts are little-endian): with `fours`,
// code i and code 4 + i in byte i; without, the even codes in the first two bytes and the odd ones in the others.
uint32_t packedEight(const int8_t* codes, bool fours) {
    uint64_t bytes;
    std::memcpy(&bytes, codes, sizeof bytes);
    if (fours) {
        bytes &= 0x0f0f0f0f0f0f0f0f;
        return static_cast<uint32_t>(bytes | bytes >> 28);
    }
    const auto everyOther = [](uint64_t of) {
        of &= 0x000f000f000f000f;
        return static_cast<uint32_t>((of | of >> 12 | of >> 24 | of >> 36) & 0xffff);
    };
    return everyOther(bytes) | everyOther(bytes >> 8) << 16;
}

}  // namespace

W8A16Weights::W8A16Weights(const Kernels& k, const ConvShape& shape, const WeightQuantization& form,
                           std::vector<OutPanel> panels)
    : k_(k), s_(shape), form_(form), ocb_(ceilDiv(shape.oc, k.lanes)), panels_(std::move(panels)) {
    const int64_t perChannel = checkedMul(area(), tapBytes(), "packed weights");
    codeBytes_ = roundUp(checkedMul(channels(), perChannel, "packed weights"), 64);
}

int64_t W8A16Weights::bytes() const {
    const int64_t perChannel = 1 + int64_t{form_.blocks} * (form_.minima ? 2 : 1);
    return codeBytes_ + channels() * perChannel * int64_t{sizeof(float)};
}

std::string W8A16Weights::variant() const {
    return format("int16.%sp%d.n%d.m%d.b%d", k_.w8a16->together == 4 ? "fours." : "", k_.lanes,
                  static_cast<int>(panels_.size()), form_.minima, form_.blocks);
}

void W8A16Weights::describe(const void* packed, const OutPanel& panel, W8A16PanelArgs& args) const {
    const auto* codes = static_cast<const int8_t*>(packed);
    const auto* scales = reinterpret_cast<const float*>(codes + codeBytes_);
    const float *codeSums = scales + channels() * form_.blocks, *minima = codeSums + (form_.minima ? channels() : 0);
    const ptrdiff_t first = ptrdiff_t(panel.block) * k_.lanes;
    args.w = codes + codesAt(panel);
    args.scale = scales + first * form_.blocks;
    args.codeSum = codeSums + first;
    args.min = minima + (form_.minima ? first * form_.blocks : 0);
    args.blocks = form_.blocks;
    args.blockLength = blockLength();
}

void W8A16Weights::packPanel8(const int8_t* weights, int8_t* out, const OutPanel& panel) const {
    const int64_t pairs = tapBytes() / 2;
    const int P = k_.lanes, first = panel.block * P, width = panel.nb * P;
    const size_t line = size_t(s_.ic) * area();
    // The codes of each output of a tap form a row of fours; two pairs at a time are transposed.
    const size_t fours = (size_t(s_.ic) + 3) / 4;
    std::vector<float> rows(size_t(P) * fours), columns(rows.size());
    for (int tap = 0; tap < area(); ++tap, out += tapBytes() * width)
        for (int b = 0; b < panel.nb; ++b) {
            const int real = std::min(P, s_.oc - (first + b * P));
            for (int l = 0; l < real; ++l)
                gatherCodes(weights + size_t(first + b * P + l) * line + tap, area(), s_.ic,
                            reinterpret_cast<int8_t*>(rows.data() + l * fours));
            k_.pack->rowsToBlock(rows.data(), fours, real, fours, columns.data());
            if (k_.w8a16->together == 4) {
                for (size_t four = 0; four < fours; ++four)
                    std::memcpy(out + (four * static_cast<size_t>(width) + static_cast<size_t>(b * P)) * 4,
                                columns.data() + four * static_cast<size_t>(P), size_t(P) * 4);
                continue;
            }
            int8_t* to = out + 2 * b * P;
            for (int64_t pair = 0; pair < pairs; pair += 2, to += 4 * width) {
                uint16_t even[16], odd[16];
                for (int l = 0; l < P; ++l) {
                    const auto four = std::bit_cast<uint32_t>(columns[size_t(pair / 2) * P + l]);
                    even[l] = static_cast<uint16_t>(four);  // the first bytes: hosts are little-endian
                    odd[l] = static_cast<uint16_t>(four >> 16);
                }
                std::memcpy(to, even, size_t(P) * 2);
                if (pair + 1 < pairs) std::memcpy(to + 2 * width, odd, size_t(P) * 2);
            }
        }
}

void W8A16Weights::packPanel4(const int8_t* weights, int8_t* out, const OutPanel& panel) const {
    const int P = k_.lanes, first = panel.block * P, width = panel.nb * P;
    const int64_t groups = tapBytes() / 4, line = int64_t{s_.ic} * area();
    std::vector<int8_t> codes(size_t(groups) * 8);
    const bool fours = k_.w8a16->together == 4;
    if (first + width > s_.oc) std::memset(out, 0, size_t(area()) * size_t(groups) * width * 4);
    for (int l = 0; l < width && first + l < s_.oc; ++l) {
        int8_t* to = out + ptrdiff_t(l) * 4;
        for (int tap = 0; tap < area(); ++tap) {
            gatherCodes(weights + (first + l) * line + tap, area(), s_.ic, codes.data());
            for (int64_t group = 0; group < groups; ++group, to += ptrdiff_t(width) * 4) {
                const uint32_t eight = packedEight(codes.data() + group * 8, fours);
                std::memcpy(to, &eight, sizeof eight);
            }
        }
    }
}

// Copies from the order [channel][block].
void W8A16Weights::packPerBlock(const float* from, float* to) const {
    for (const OutPanel& panel : panels_) {
        const int first = panel.block * k_.lanes;
        for (int block = 0; block < form_.blocks; ++block)
            for (int l = 0; l < panel.nb * k_.lanes; ++l)
                *to++ = from && first + l < s_.oc ? from[int64_t{first + l} * form_.blocks + block] : 0.0f;
    }
}

void W8A16Weights::pack(const QuantizedWeightsView& weights, void* packed, ThreadPool& pool) const {
    parallelFor(pool, static_cast<int>(panels_.size()), [&](int i) {
        auto* to = static_cast<int8_t*>(packed) + codesAt(panels_[i]);
        if (form_.bits == 8)
            packPanel8(weights.codes.data(), to, panels_[i]);
        else
            packPanel4(weights.codes.data(), to, panels_[i]);
    });
    float* scale = reinterpret_cast<float*>(static_cast<char*>(packed) + codeBytes_);
    float* codeSum = scale + channels() * form_.blocks;
    packPerBlock(weights.scales.data(), scale);
    const float* minima = form_.minima && !weights.minima.empty() ? weights.minima.data() : nullptr;
    if (form_.minima) packPerBlock(minima, codeSum + channels());
    const int64_t length = int64_t{s_.ic} * area() / form_.blocks;
    parallelFor(pool, static_cast<int>(channels()), [&](int o) {
        float sum = 0;
        for (int64_t i = int64_t{o} * form_.blocks; o < s_.oc && i < (o + int64_t{1}) * form_.blocks; ++i) {
            sum += weights.scales[i] * static_cast<float>(sumOf(weights.codes.data() + i * length, length));
            // With a single block, the minimum is multiplied by the sum of the inputs themselves.
            if (minima && form_.blocks > 1) sum += minima[i] * static_cast<float>(length);
        }
        codeSum[o] = sum;
    });
}

}  // namespace mnnc
