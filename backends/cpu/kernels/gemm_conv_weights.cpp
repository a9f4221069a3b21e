#include "backends/cpu/kernels/gemm_conv_weights.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/pack.h"

namespace mnnc {
namespace {

constexpr int kPackColumns = 128;  // of the weights, packed at a time

}  // namespace

template <typename T>
void GemmConvWeights::pack(const float* weights, T* out, const ConvPhase& phase, const GemmPanel& p) const {
    const int P = k.lanes, width = p.nb * P, icg = s.ic / groups, ocg = s.oc / groups;
    const int area = s.kh * s.kw, length = runLength(p), first = p.block * P;
    const int runs = static_cast<int>(phase.offsets.size());
    const int runsPerChannel = planar ? runs / s.ic : 1;
    const bool oneGroup = groups == 1 || (icg % P == 0 && ocg % P == 0);
    if (!planar && !transposed && oneGroup && 2 * area <= kPackColumns) return packRows(weights, out, p, icg);
    alignas(64) float rows[2][4 * 16];
    for (int run = 0; run < runs; ++run) {
        const auto fill = [&](int i, float* to) {
            const int c = planar ? run / runsPerChannel : p.inBlock * P + i, group = c / icg;
            const int tap = planar ? run % runsPerChannel * length + i : run;
            const int spot = phase.taps[tap].ky * s.kw + phase.taps[tap].kx;
            for (int l = 0; l < width; ++l) {
                const int oc = p.block * P + l;
                float w = 0.0f;
                if (oc < s.oc && oc / ocg == group) {
                    const size_t at =
                        transposed ? size_t(c) * ocg + oc % ocg : size_t(oc - first) * icg + c % icg;
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
                k.bf16->interleave(rows[0], rows[1], width, out);
            }
        }
    }
}

// The same where the panel's channels all belong to one group: a few columns of the weights at a time.
template <typename T>
void GemmConvWeights::packRows(const float* weights, T* out, const GemmPanel& p, int channels) const {
    const int P = k.lanes, area = s.kh * s.kw, width = p.nb * P;
    const size_t line = size_t(channels) * area;
    alignas(64) float columns[kPackColumns * 16];
    alignas(64) static constexpr float kZero[16] = {};
    for (int b = 0; b < p.nb; ++b) {
        const int real = std::min(P, s.oc - (p.block + b) * P);
        const float* from = weights + size_t(b) * P * line;
        if constexpr (std::is_same_v<T, float>) {
            if (area == 1) {
                for (size_t j = 0; j < line; j += kPackColumns)
                    k.pack->rowsToPanel(from + j, line, real, std::min<size_t>(kPackColumns, line - j),
                                        out + j * width + b * P, static_cast<size_t>(width));
                continue;
            }
            for (size_t j0 = 0; j0 < line; j0 += kPackColumns) {
                const size_t count = std::min<size_t>(kPackColumns, line - j0);
                k.pack->rowsToBlock(from + j0, line, real, count, columns);
                for (size_t i = 0; i < count; ++i) {
                    const size_t row = (j0 + i) % area * channels + (j0 + i) / area;
                    std::memcpy(out + row * width + b * P, columns + i * P, P * sizeof(float));
                }
            }
        } else {
            const int step = kPackColumns / area / 2 * 2;
            for (int c0 = 0; c0 < channels; c0 += step) {
                const int count = std::min(step, channels - c0);
                k.pack->rowsToBlock(from + size_t(c0) * area, line, real, size_t(count) * area, columns);
                for (int i = 0; i < count * area; ++i) {
                    const int c = i / area;
                    if (c % 2) continue;
                    const float* even = columns + i * P;
                    const size_t row = i % area * ((size_t(channels) + 1) / 2) + (c0 + c) / 2;
                    k.bf16->interleave(even, c + 1 < count ? even + area * P : kZero, P,
                                       out + (row * width + b * P) * 2);
                }
            }
        }
    }
}

template void GemmConvWeights::pack(const float*, float*, const ConvPhase&, const GemmPanel&) const;
template void GemmConvWeights::pack(const float*, uint16_t*, const ConvPhase&, const GemmPanel&) const;

}  // namespace mnnc
