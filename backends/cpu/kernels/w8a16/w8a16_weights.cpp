// Packs the weights of W8A16 convolutions.
#include "backends/cpu/kernels/w8a16/w8a16_weights.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/cpu/kernels/conv_packing.h"
#include "backends/cpu/kernels/int8/int8_codes.h"
#include "backends/cpu/kernels/pack.h"
#include "backends/cpu/kernels/w8a16/w8a16_packing.h"
#include "base/checked.h"
#include "base/error.h"

namespace mnnc {
namespace {

constexpr int kLines = 128;  // words of each output that are transposed together

// Writes codes as StoredWeightsView has them, up to whole words. Codes of 0 follow the last one.
void storeCodes(const int8_t* codes, int64_t count, int bits, uint32_t* to) {
    const int perWord = bits == 8 ? 4 : 8;
    auto* bytes = reinterpret_cast<uint8_t*>(to);
    const int64_t whole = (count + perWord - 1) / perWord * perWord;
    const auto code = [&](int64_t i) { return static_cast<uint8_t>((i < count ? codes[i] : 0) + (1 << (bits - 1))); };
    for (int64_t i = 0; i < whole; i += 8 / bits)
        *bytes++ = bits == 8 ? code(i) : static_cast<uint8_t>(code(i) << 4 | (code(i + 1) & 15));
}

}  // namespace

// The weights that packPanel() reads: rows of words that lie in order, or codes to make them of.
struct W8A16Weights::Source {
    int first;              // the output that they begin with
    const uint32_t* words;  // null: they are made
    const uint8_t* stored;  // null: `codes` are as numbers
    const int8_t* codes;
    const float *scales, *minima;
};

W8A16Weights::W8A16Weights(const Kernels& k, const ConvShape& shape, const WeightQuantization& form,
                           std::vector<OutPanel> panels)
    : k_(k),
      s_(shape),
      form_(form),
      packing_(w8a16Packing(k.id)),
      ocb_(ceilDiv(shape.oc, k.lanes)),
      panels_(std::move(panels)) {
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
    void* const memory = const_cast<void*>(packed);
    const ptrdiff_t first = ptrdiff_t(panel.block) * k_.lanes;
    args.w = static_cast<const int8_t*>(packed) + codesAt(panel);
    args.scale = scalesOf(memory) + first * form_.blocks;
    args.codeSum = codeSumsOf(memory) + first;
    args.min = form_.minima ? minimaOf(memory) + first * form_.blocks : args.codeSum;
    args.blocks = form_.blocks;
    args.blockLength = blockLength();
}

// Copies the scales of a panel from the order [channel][block].
void W8A16Weights::packPerBlock(const float* from, const OutPanel& panel, float* to) const {
    const int P = k_.lanes, width = panel.nb * P;
    for (int b = 0; b < panel.nb; ++b) {
        const int first = panel.block * P + b * P, real = std::clamp(s_.oc - first, 0, P);
        k_.pack->rowsToPanel(from + ptrdiff_t{b} * P * form_.blocks, static_cast<size_t>(form_.blocks), real,
                             static_cast<size_t>(form_.blocks), to + b * P, static_cast<size_t>(width));
    }
}

// Packs a block of P outputs at a tap; `rows` are stride words apart. Adds the sums of the codes of each block of
// channels to codeSums[block][P].
void W8A16Weights::packRows(const uint32_t* rows, size_t stride, int real, uint8_t* to, ptrdiff_t lineBytes,
                            int64_t* codeSums) const {
    const int P = k_.lanes, perWord = form_.bits == 8 ? 4 : 8;
    const int words = ceilDiv(s_.ic, perWord);
    const int length = form_.blocks > 1 ? s_.ic / form_.blocks / perWord : words;
    alignas(64) uint32_t columns[kLines * kMaxLanes];
    uint32_t sums[kMaxLanes];
    for (int block = 0, at = 0; block < form_.blocks; ++block, codeSums += P)
        for (const int end = at + length; at < end;) {
            const int lines = std::min(kLines, end - at);
            // Words are copied as floats.
            k_.pack->rowsToBlock(reinterpret_cast<const float*>(rows + at), stride, real, static_cast<size_t>(lines),
                                 reinterpret_cast<float*>(columns));
            std::fill(sums, sums + P, 0);
            const bool half = form_.bits == 8 && at + lines == words && tapBytes() % 4 != 0;
            const PackedLines args{columns, lines, to + at * lineBytes, lineBytes, sums, half};
            (form_.bits == 8 ? packing_->lines8 : packing_->lines4)(args);
            const int64_t added = int64_t{lines} * perWord << (form_.bits - 1);
            for (int l = 0; l < P; ++l) codeSums[l] += int64_t{sums[l]} - added;
            at += lines;
        }
}

void W8A16Weights::packPanel(const Source& source, const OutPanel& panel, void* packed) const {
    const int P = k_.lanes, width = panel.nb * P, first = panel.block * P;
    const int perWord = form_.bits == 8 ? 4 : 8;
    const ptrdiff_t lineBytes = ptrdiff_t{width} * 4;
    const size_t words = static_cast<size_t>(ceilDiv(s_.ic, perWord));
    const int64_t perOutput = int64_t{s_.ic} * area();
    const int skipped = first - source.first;
    auto* const codes = static_cast<uint8_t*>(packed) + codesAt(panel);

    float* const scales = scalesOf(packed) + ptrdiff_t{first} * form_.blocks;
    packPerBlock(source.scales + ptrdiff_t{skipped} * form_.blocks, panel, scales);
    float* const minima = form_.minima ? minimaOf(packed) + ptrdiff_t{first} * form_.blocks : nullptr;
    if (minima && source.minima)
        packPerBlock(source.minima + ptrdiff_t{skipped} * form_.blocks, panel, minima);
    else if (minima)
        std::fill(minima, minima + ptrdiff_t{width} * form_.blocks, 0.0f);

    std::vector<int8_t> row;
    std::vector<uint32_t> made;
    if (!source.words) {
        row.resize(static_cast<size_t>(s_.ic));
        made.resize(static_cast<size_t>(P) * words);
    }
    std::vector<int64_t> codeSums(static_cast<size_t>(P) * static_cast<size_t>(form_.blocks));
    for (int b = 0; b < panel.nb; ++b) {
        const int real = std::clamp(s_.oc - (first + b * P), 0, P), begin = skipped + b * P;
        std::fill(codeSums.begin(), codeSums.end(), 0);
        for (int tap = 0; tap < area(); ++tap) {
            const uint32_t* rows = source.words + begin * static_cast<ptrdiff_t>(words);
            if (!source.words) {
                for (int l = 0; l < real; ++l) {
                    uint32_t* const to = made.data() + static_cast<size_t>(l) * words;
                    const int64_t at = (begin + l) * perOutput;
                    if (source.stored) {
                        std::memcpy(to, source.stored + at * form_.bits / 8, words * sizeof(uint32_t));
                    } else {
                        gatherCodes(source.codes + at + tap, area(), s_.ic, row.data());
                        storeCodes(row.data(), s_.ic, form_.bits, to);
                    }
                }
                rows = made.data();
            }
            uint8_t* const to = codes + tap * tapBytes() * width;
            packRows(rows, words, real, to + ptrdiff_t{b} * P * (form_.bits == 8 ? k_.w8a16->together : 4), lineBytes,
                     codeSums.data());
        }
        if (real < P) clearLanes(codes, panel, b, real);
        float* const sums = codeSumsOf(packed) + first + b * P;
        sumCodes(codeSums.data(), scales + b * P, minima ? minima + b * P : nullptr, width, real, sums);
    }
}

// Outputs that do not exist have codes of 0.
void W8A16Weights::clearLanes(uint8_t* codes, const OutPanel& panel, int b, int real) const {
    const int P = k_.lanes, width = panel.nb * P;
    const int each = form_.bits == 8 ? k_.w8a16->together : 4;  // bytes of an output in a line
    const int64_t lines = area() * tapBytes() / each;
    for (int64_t line = 0; line < lines; ++line)
        std::memset(codes + (line * width + ptrdiff_t{b} * P + real) * each, 0, static_cast<size_t>(P - real) * each);
}

// Scales the sums [block][P] of the codes of P outputs and adds them up.
void W8A16Weights::sumCodes(const int64_t* codeSums, const float* scales, const float* minima, int width, int real,
                            float* sums) const {
    const int P = k_.lanes;
    const int64_t length = int64_t{s_.ic} * area() / form_.blocks;
    std::fill(sums, sums + P, 0.0f);
    for (int block = 0; block < form_.blocks; ++block, codeSums += P, scales += width) {
        for (int l = 0; l < real; ++l) {
            sums[l] += scales[l] * static_cast<float>(codeSums[l]);
            // With a single block, the minimum is multiplied by the sum of the inputs themselves.
            if (minima && form_.blocks > 1) sums[l] += minima[l] * static_cast<float>(length);
        }
        if (minima) minima += width;
    }
}

void W8A16Weights::pack(QuantizedWeightReader& weights, void* packed, ThreadPool& pool) const {
    const bool whole = area() == 1 && s_.ic % (form_.bits == 8 ? 4 : 8) == 0;
    const auto read = [&](int first, int count) {
        Source source{first, nullptr, nullptr, nullptr, nullptr, nullptr};
        const auto scales = [&](const auto& part) {
            source.scales = part.scales.data();
            source.minima = part.minima.empty() ? nullptr : part.minima.data();
        };
        if (whole) {
            const StoredWeightsView part = weights.readStored(first, count, form_.bits);
            scales(part);
            source.stored = part.codes;
            if (reinterpret_cast<uintptr_t>(part.codes) % alignof(uint32_t) == 0)
                source.words = reinterpret_cast<const uint32_t*>(part.codes);
        } else {
            const QuantizedWeightsView part = weights.read(first, count);
            scales(part);
            source.codes = part.codes.data();
        }
        return source;
    };
    packPartsInChunks(
        k_, pool, static_cast<int>(panels_.size()), size_t(s_.ic) * area() * (whole && form_.bits == 4 ? 1 : 2) / 2,
        read, [&](int i) { return std::min(s_.oc, (panels_[i].block + panels_[i].nb) * k_.lanes); },
        [&](int i, const Source& source, int) { packPanel(source, panels_[i], packed); });
}

}  // namespace mnnc
