// Code that products of bf16 and of fp16 share on 64-bit Arm: it rounds floats to 16 bits, and stores the results of
// tiles. It is included once per instruction set, hence the toggling guard.
#if defined(MNNC_ARM_HALVES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MNNC_ARM_HALVES_INL_H
#undef MNNC_ARM_HALVES_INL_H
#else
#define MNNC_ARM_HALVES_INL_H
#endif

#include <cstring>

#include "backends/cpu/kernels/gemm/panel_tile-inl.h"

#if MNNC_NEON64
HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// All tiles of a size call this function, which keeps the code small.
template <int R, int NB>
HWY_NOINLINE void finishStored(const Bf16PanelArgs& t, const float* sums, float* dst, const float* residual) {
    V acc[R][NB];
    HWY_UNROLL(16)
    for (int r = 0; r < R; ++r) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) acc[r][n] = V(vld1q_f32(sums + (r * NB + n) * P));
    }
    finishTile(t, acc, dst, residual);
}

// `To` rounds four floats; the functions of Bf16Kernels are built from it.
template <typename To>
HWY_INLINE uint16x8_t eightHalves(const float* from) {
    return vcombine_u16(To()(vld1q_f32(from)), To()(vld1q_f32(from + 4)));
}

template <typename To>
void roundHalves(const float* src, size_t n, uint16_t* dst) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) vst1q_u16(dst + i, eightHalves<To>(src + i));
    if (i < n) {
        float rest[8] = {};
        uint16_t halves[8];
        std::memcpy(rest, src + i, (n - i) * sizeof(float));
        vst1q_u16(halves, eightHalves<To>(rest));
        std::memcpy(dst + i, halves, (n - i) * sizeof(uint16_t));
    }
}

template <typename To>
void roundBlockHalves(const float* src, ptrdiff_t pixelStride, int pixels, int lanes, uint16_t* dst) {
    if (lanes == P && pixelStride == P) return roundHalves<To>(src, size_t(pixels) * P, dst);
    const uint32_t mask[P] = {~0u, lanes > 1 ? ~0u : 0, lanes > 2 ? ~0u : 0, lanes > 3 ? ~0u : 0};
    const uint32x4_t some = vld1q_u32(mask);
    for (int i = 0; i < pixels; ++i, src += pixelStride, dst += P)
        vst1_u16(dst, To()(vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(vld1q_f32(src)), some))));
}

template <typename To>
void interleaveHalves(const float* even, const float* odd, int width, uint16_t* dst) {
    for (int i = 0; i < width; i += P, dst += 2 * P) {
        const uint16x4_t e = To()(vld1q_f32(even + i)), o = To()(vld1q_f32(odd + i));
        vst1q_u16(dst, vcombine_u16(vzip1_u16(e, o), vzip2_u16(e, o)));
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif
#endif
