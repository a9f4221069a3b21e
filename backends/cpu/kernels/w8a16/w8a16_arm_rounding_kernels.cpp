// Rounding of activations to 16 bits with a scale, on 64-bit Arm.
#include "backends/cpu/kernels/w8a16/w8a16_kernels.h"

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/w8a16/w8a16_scale.h"

#if HWY_ARCH_ARM_A64 && (HWY_TARGETS & HWY_NEON)
#include <arm_neon.h>

namespace mnnc {
namespace {

constexpr int kArmLanes = 4;

// Reads the first lanes of a vector of floats; the others become 0.
struct Lanes {
    uint32x4_t some;

    explicit Lanes(int lanes) {
        const uint32_t mask[kArmLanes] = {~0u, lanes > 1 ? ~0u : 0, lanes > 2 ? ~0u : 0, lanes > 3 ? ~0u : 0};
        some = vld1q_u32(mask);
    }
    uint32x4_t bits(const float* from) const { return vandq_u32(vreinterpretq_u32_f32(vld1q_f32(from)), some); }
    float32x4_t load(const float* from) const { return vreinterpretq_f32_u32(bits(from)); }
};

// The range of vectors, lane by lane.
struct Ranges {
    uint32x4_t largest = vdupq_n_u32(0), signs = vdupq_n_u32(0);

    void take(uint32x4_t x) {
        largest = vmaxq_u32(largest, vandq_u32(x, vdupq_n_u32(0x7fffffff)));
        signs = vorrq_u32(signs, x);
    }
    ActivationRange joined() const {
        const uint32x2_t both = vorr_u32(vget_low_u32(signs), vget_high_u32(signs));
        return {vmaxvq_u32(largest), vget_lane_u32(both, 0) | vget_lane_u32(both, 1)};
    }
};

void storeRounded(float32x4_t x, float32x4_t inverse, int32x4_t zero, int16_t* to) {
    vst1_s16(to, vqmovn_s32(vaddq_s32(vcvtnq_s32_f32(vmulq_f32(x, inverse)), zero)));
}

ActivationRange rangeF32(const float* src, size_t pixels, int lanes) {
    const Lanes some(lanes);
    Ranges ranges;
    for (size_t i = 0; i < pixels; ++i) ranges.take(some.bits(src + i * kArmLanes));
    return ranges.joined();
}

void roundS16(const float* src, int pixels, int lanes, const ActivationScale& scale, int16_t* dst, float* sum) {
    const Lanes some(lanes);
    const float32x4_t inverse = vdupq_n_f32(scale.inverse);
    const int32x4_t zero = vdupq_n_s32(scale.zero);
    for (int i = 0; i < pixels; ++i) {
        const float32x4_t x = some.load(src + ptrdiff_t(i) * kArmLanes);
        storeRounded(x, inverse, zero, dst + ptrdiff_t(i) * kArmLanes);
        if (sum) sum[i] += vaddvq_f32(x);
    }
}

void roundPixelsS16(const RoundPixelsArgs& t) {
    const int blocks = (t.channels + kArmLanes - 1) / kArmLanes;
    const Lanes whole(kArmLanes), last(t.channels - (blocks - 1) * kArmLanes);
    for (int i = 0; i < t.pixels; ++i) {
        const float* src = t.src + i * t.pixelStride;
        const auto load = [&](int b) { return (b + 1 < blocks ? whole : last).load(src + b * t.blockStride); };
        Ranges ranges;
        float32x4_t sum = vdupq_n_f32(0.0f);
        for (int b = 0; b < blocks; ++b) {
            const float32x4_t x = load(b);
            ranges.take(vreinterpretq_u32_f32(x));
            sum = vaddq_f32(sum, x);
        }
        const ActivationScale scale = activationScale(ranges.joined());
        t.scale[i] = scale.scale;
        t.offset[i] = scale.offset;
        if (t.sum) t.sum[i] = vaddvq_f32(sum);
        const float32x4_t inverse = vdupq_n_f32(scale.inverse);
        const int32x4_t zero = vdupq_n_s32(scale.zero);
        int16_t* dst = t.dst + ptrdiff_t(i) * kArmLanes;
        for (int b = 0; b < blocks; ++b) storeRounded(load(b), inverse, zero, dst + b * t.dstBlockStride);
    }
}

}  // namespace

const W8A16Kernels& w8a16ArmKernels() {
    static const W8A16Kernels table = {4,         w8a16ArmPanels(8), w8a16ArmPanels(4), &roundPixelsS16,
                                       &rangeF32, &activationScale,  &roundS16};
    return table;
}

}  // namespace mnnc
#endif
