// Splits output channels into panels and packs their weights.
#include "backends/cpu/kernels/conv/gemm_conv_weights.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <type_traits>
#include <utility>

#include "backends/cpu/kernels/conv/conv_cost.h"
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/conv_packing.h"
#include "backends/cpu/kernels/gemm/panels.h"
#include "backends/cpu/kernels/pack.h"
#include "base/error.h"

namespace mnnc {
namespace {

constexpr int kPackColumns = 128;  // columns of the weights that are packed at a time

}  // namespace

GemmConvWeights::GemmConvWeights(const Kernels& k, const ConvShape& shape, const GemmWeightOptions& options,
                                 std::vector<ConvPhase> phases, int pixels)
    : k_(k), s_(shape), options_(options), phases_(std::move(phases)) {
    if (options.quantization.bits)
        dequant_ = DequantPanels(k, options.quantization, shape, DequantPanels::Rows::TapMajor);
    makePanels(pixels);
    if (int64_t(panels_.size()) * int64_t(phases_.size()) > INT_MAX)
        fail(Status::NotSupported, "a deconvolution to %d channels with a stride of %dx%d is too large", s_.oc,
             s_.strideH, s_.strideW);
    for (const ConvPhase& phase : phases_) {
        for (const GemmPanel& p : panels_) {
            offsets_.push_back(elements_);
            const size_t length = options_.bf16 ? ceilDiv(p.length, 2) * 2 : p.length;
            const size_t elements = runs(phase) * length * p.nb * k_.lanes;
            elements_ += elements;
            largestElements_ = std::max(largestElements_, elements);
        }
    }
}

int GemmConvWeights::runs(const ConvPhase& phase) const {
    if (options_.rowTaps) return s_.ic * s_.kh * s_.kw / options_.rowTaps;
    return static_cast<int>(phase.taps.size());
}

size_t GemmConvWeights::expandedBytes() const {
    return quantized() ? wholeLines(largestElements_ * elementBytes()) : 0;
}

bool GemmConvWeights::wholeGroups() const {
    return fillsVectors(k_, s_, options_.groups);
}

void GemmConvWeights::addPanel(OutPanel out, int firstChannel, int endChannel) {
    const int P = k_.lanes, inBlock = firstChannel / P, channels = endChannel - inBlock * P;
    if (options_.rowTaps)
        panels_.push_back({out.block, out.nb, inBlock, options_.rowTaps, 0, options_.rowTaps});
    else
        panels_.push_back({out.block, out.nb, inBlock, channels, channels / P, channels % P});
}

void GemmConvWeights::makePanels(int pixels) {
    const int P = k_.lanes, groups = options_.groups;
    if (wholeGroups()) {
        panelBlocks_ = bestPanelBlocks(k_, pixels, ceilDiv(s_.oc / groups, P));
        if (quantized()) {  // the expanded panel stays in the second level cache
            const size_t block = size_t(dequant_.rows()) * P * elementBytes();
            const auto maxBlocks = static_cast<size_t>(k_.costs->cache.dequantizedPanel) / block;
            panelBlocks_ = std::clamp(static_cast<int>(maxBlocks), 1, panelBlocks_);
        }
    }
    eachGroupPanel(s_, groups, P, wholeGroups(), panelBlocks_,
                   [&](const OutPanel& o, int begin, int end) { addPanel(o, begin, end); });
}

std::string GemmConvWeights::variant() const {
    const bool transposed = options_.transposed;
    return (quantized() ? dequant_.variant() : "") +
           (options_.bf16 && !quantized() ? std::string(k_.bf16->type) + "." : "") +
           format("%s.p%d.n%d.g%d.s%dx%d.a%dx%d",
                  transposed         ? "deconv"
                  : options_.rowTaps ? "planar"
                                     : "tap",
                  k_.lanes, panelBlocks_, options_.groups, transposed ? s_.strideH : 0, transposed ? s_.strideW : 0,
                  transposed ? s_.padTop % s_.strideH : 0, transposed ? s_.padLeft % s_.strideW : 0) +
           (transposed ? format(".d%dx%d.o%dx%d", s_.dilateH, s_.dilateW, std::min(s_.strideH, s_.oh),
                                std::min(s_.strideW, s_.ow))
                       : std::string());
}

void GemmConvWeights::pack(const WeightReader& weights, void* packed, ThreadPool& pool) const {
    const size_t perOutput = size_t(s_.ic / options_.groups) * s_.kh * s_.kw;
    const auto packOne = [&](int phase, int i, const float* own) {
        const size_t at = offsetOf(phase, i);
        if (options_.bf16)
            packPanel(own, static_cast<uint16_t*>(packed) + at, phases_[phase], panels_[i]);
        else
            packPanel(own, static_cast<float*>(packed) + at, phases_[phase], panels_[i]);
    };
    const int panels = static_cast<int>(panels_.size());
    if (options_.transposed) {  // the weights of one output are spread over the whole tensor
        const float* all = weights(0, size_t(s_.oc) * perOutput);
        parallelFor(pool, panels * static_cast<int>(phases_.size()),
                    [&](int i) { packOne(i / panels, i % panels, all); });
        return;
    }
    const auto end = [&](int i) {
        return std::min<size_t>(s_.oc, size_t(panels_[i].block + panels_[i].nb) * k_.lanes) * perOutput;
    };
    packInChunks(k_, pool, panels, weights, end, [&](int i, const float* own) { packOne(0, i, own); });
}

void GemmConvWeights::packQuantized(QuantizedWeightReader& weights, void* packed, ThreadPool& pool) const {
    packPartsInChunks(
        k_, pool, static_cast<int>(panels_.size()), static_cast<size_t>(dequant_.rows()),
        [&](int first, int count) { return weights.read(first, count); },
        [&](int i) { return std::min(s_.oc, (panels_[i].block + panels_[i].nb) * k_.lanes); },
        [&](int i, const QuantizedWeightsView& own, int first) {
            dequant_.pack(own, first, {panels_[i].block, panels_[i].nb}, packed);
        });
}

template <typename T>
void GemmConvWeights::packPanel(const float* weights, T* out, const ConvPhase& phase, const GemmPanel& p) const {
    const int P = k_.lanes, width = p.nb * P, icg = s_.ic / options_.groups, ocg = s_.oc / options_.groups;
    const int area = s_.kh * s_.kw, length = p.length, first = p.block * P;
    const bool byRows = options_.rowTaps != 0, transposed = options_.transposed;
    const int runCount = runs(phase), runsPerChannel = byRows ? runCount / s_.ic : 1;
    if (!byRows && !transposed && wholeGroups() && 2 * area <= kPackColumns) return packRows(weights, out, p);
    alignas(64) float rows[2][4 * 16];
    for (int run = 0; run < runCount; ++run) {
        const auto fill = [&](int i, float* to) {
            const int c = byRows ? run / runsPerChannel : p.inBlock * P + i, group = c / icg;
            const int tap = byRows ? run % runsPerChannel * length + i : run;
            const int spot = phase.taps[tap].ky * s_.kw + phase.taps[tap].kx;
            for (int l = 0; l < width; ++l) {
                const int oc = p.block * P + l;
                float w = 0.0f;
                if (oc < s_.oc && oc / ocg == group) {
                    const size_t at = transposed ? size_t(c) * ocg + oc % ocg : size_t(oc - first) * icg + c % icg;
                    w = weights[at * area + spot];
                }
                to[l] = w;
            }
        };
        if constexpr (std::is_same_v<T, float>) {
            for (int i = 0; i < length; ++i, out += width) fill(i, out);
        } else {
            for (int i = 0; i < length; i += 2, out += 2 * width) {
                fill(i, rows[0]);
                if (i + 1 < length)
                    fill(i + 1, rows[1]);
                else
                    std::fill(rows[1], rows[1] + width, 0.0f);
                k_.bf16->interleave(rows[0], rows[1], width, out);
            }
        }
    }
}

// Does the same where all channels of a panel belong to one group: a few columns of the weights at a time.
template <typename T>
void GemmConvWeights::packRows(const float* weights, T* out, const GemmPanel& p) const {
    const int P = k_.lanes, area = s_.kh * s_.kw, width = p.nb * P, channels = s_.ic / options_.groups;
    const size_t line = size_t(channels) * area;
    alignas(64) float columns[kPackColumns * 16];
    alignas(64) static constexpr float kZero[16] = {};
    for (int b = 0; b < p.nb; ++b) {
        const int real = std::min(P, s_.oc - (p.block + b) * P);
        const float* from = weights + size_t(b) * P * line;
        if constexpr (std::is_same_v<T, float>) {
            if (area == 1) {
                for (size_t j = 0; j < line; j += kPackColumns)
                    k_.pack->rowsToPanel(from + j, line, real, std::min<size_t>(kPackColumns, line - j),
                                         out + j * width + b * P, static_cast<size_t>(width));
                continue;
            }
            for (size_t j0 = 0; j0 < line; j0 += kPackColumns) {
                const size_t count = std::min<size_t>(kPackColumns, line - j0);
                k_.pack->rowsToBlock(from + j0, line, real, count, columns);
                for (size_t i = 0; i < count; ++i) {
                    const size_t row = (j0 + i) % area * channels + (j0 + i) / area;
                    std::memcpy(out + row * width + b * P, columns + i * P, P * sizeof(float));
                }
            }
        } else {
            const int step = kPackColumns / area / 2 * 2;
            for (int c0 = 0; c0 < channels; c0 += step) {
                const int count = std::min(step, channels - c0);
                k_.pack->rowsToBlock(from + size_t(c0) * area, line, real, size_t(count) * area, columns);
                for (int i = 0; i < count * area; ++i) {
                    const int c = i / area;
                    if (c % 2) continue;
                    const float* even = columns + i * P;
                    const size_t row = i % area * ((size_t(channels) + 1) / 2) + (c0 + c) / 2;
                    k_.bf16->interleave(even, c + 1 < count ? even + area * P : kZero, P,
                                        out + (row * width + b * P) * 2);
                }
            }
        }
    }
}

}  // namespace mnnc
