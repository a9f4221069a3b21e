// Products of bf16 in plain C++, as conv_kernels.h defines them: on a CPU without such instructions they test the plans
// that prepare operands for them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/kernels.h"
#include "float_util.h"

namespace mnnc::test {

inline double activate(double x, Act act) {
    switch (act) {
        case Act::HardSwish:
            return x * std::min(std::max(x + 3, 0.0), 6.0) / 6;
        case Act::Silu:
            return x / (1 + std::exp(-x));
        case Act::Gelu:
            return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
        case Act::Sigmoid:
            return 1 / (1 + std::exp(-x));
        case Act::HardSigmoid:
            return std::min(std::max(x + 3, 0.0), 6.0) / 6;
        case Act::Tanh:
            return std::tanh(x);
        case Act::GeluTanh:
            return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
        case Act::None:
            break;
    }
    return x;
}

inline uint16_t toBf16(float x) {
    const float rounded = roundedToBf16({x})[0];
    uint32_t bits;
    std::memcpy(&bits, &rounded, 4);
    return static_cast<uint16_t>(bits >> 16);
}
inline float fromBf16(uint16_t x) {
    const uint32_t bits = static_cast<uint32_t>(x) << 16;
    float result;
    std::memcpy(&result, &bits, 4);
    return result;
}

// The kernels with P lanes.
template <int P>
struct ScalarBf16 {
    // sums[j] += a[0] * w[2j] + a[1] * w[2j + 1]
    static void addPair(const uint16_t* a, const uint16_t* w, int width, float* sums) {
        const float even = fromBf16(a[0]), odd = fromBf16(a[1]);
        for (int j = 0; j < width; ++j) sums[j] += even * fromBf16(w[2 * j]) + odd * fromBf16(w[2 * j + 1]);
    }

    static void panel(const Bf16PanelArgs& t) {
        const int width = t.nb * P;
        for (int r = 0; r < t.m; ++r) {
            float sums[4 * P];
            std::memcpy(sums, t.bias, sizeof(float) * static_cast<size_t>(width));
            const uint16_t* w = t.w;
            for (int tap = 0; tap < t.taps; ++tap) {
                const uint16_t* a = t.a + r * t.pixelStride + t.tapOffset[tap];
                for (int block = 0; block <= t.fullBlocks; ++block, a += t.blockStride)
                    for (int k = 0; k < (block < t.fullBlocks ? P : t.tail); k += 2, w += 2 * width)
                        addPair(a + k, w, width, sums);
            }
            for (int n = 0; n < t.nb; ++n)
                for (int j = 0; j < (n + 1 < t.nb ? P : t.lastLanes); ++j) {
                    const ptrdiff_t at = r * t.dstPixelStride + n * t.dstBlockStride + j;
                    const double x = double(sums[n * P + j]) + (t.residual ? t.residual[at] : 0);
                    const double y = activate(x, t.act);
                    t.dst[at] = static_cast<float>(std::min<double>(std::max<double>(y, t.lo), t.hi));
                }
        }
    }

    static void convert(const float* src, size_t n, uint16_t* dst) { std::transform(src, src + n, dst, toBf16); }

    static void convertBlock(const float* src, ptrdiff_t pixelStride, int pixels, int lanes, uint16_t* dst) {
        for (int i = 0; i < pixels; ++i, src += pixelStride, dst += P) {
            convert(src, static_cast<size_t>(lanes), dst);
            std::fill(dst + lanes, dst + P, uint16_t{0});
        }
    }

    static void interleave(const float* even, const float* odd, int width, uint16_t* dst) {
        for (int i = 0; i < width; ++i) {
            dst[2 * i] = toBf16(even[i]);
            dst[2 * i + 1] = toBf16(odd[i]);
        }
    }

    static constexpr Bf16Kernels kKernels = {&panel, &convert, &convertBlock, &interleave};
};

// Returns the kernels of an instruction set, always with products of bf16.
inline Kernels kernelsWithBf16(std::string_view isa) {
    Kernels kernels = selectKernels(isa);
    if (!kernels.bf16 || kernels.bf16->type != std::string_view("bf16"))
        kernels.bf16 = kernels.lanes == 16  ? &ScalarBf16<16>::kKernels
                       : kernels.lanes == 8 ? &ScalarBf16<8>::kKernels
                                            : &ScalarBf16<4>::kKernels;
    return kernels;
}

}  // namespace mnnc::test
