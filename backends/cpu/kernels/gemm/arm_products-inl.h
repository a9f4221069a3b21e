// Instructions of 64-bit Arm for products that Highway does not offer: they are written as assembly, and used where the
// CPU has them. It is included once per instruction set, hence the toggling guard.
#if defined(MNNC_ARM_PRODUCTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MNNC_ARM_PRODUCTS_INL_H
#undef MNNC_ARM_PRODUCTS_INL_H
#else
#define MNNC_ARM_PRODUCTS_INL_H
#endif

#include "hwy/highway.h"

#undef MNNC_NEON64
#if HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64
#define MNNC_NEON64 1
HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// The assembler accepts these instructions for this architecture and later ones.
#undef MNNC_ARM_ASM
#define MNNC_ARM_ASM ".arch armv8.2-a+crypto+dotprod+i8mm+bf16+fp16\n\t"

// sum += products of the fours of w with those of x.
HWY_INLINE void dotFours(int32x4_t& sum, int8x16_t w, int8x16_t x) {
    asm(MNNC_ARM_ASM "sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(w), "w"(x));
}

// sum += products of the fours of w with one four of x.
template <int Lane>
HWY_INLINE void dotLane(int32x4_t& sum, int8x16_t w, int8x16_t x) {
    asm(MNNC_ARM_ASM "sdot %0.4s, %1.16b, %2.4b[%3]" : "+w"(sum) : "w"(w), "w"(x), "i"(Lane));
}

// sum += [x0 w0, x0 w1, x1 w0, x1 w1], where x and w hold two eights each (FEAT_I8MM).
HWY_INLINE void multiplyEights(int32x4_t& sum, int8x16_t x, int8x16_t w) {
    asm(MNNC_ARM_ASM "smmla %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(x), "w"(w));
}

// Does the same with fours of bf16, whose sums are rounded (FEAT_BF16).
HWY_INLINE void multiplyFours(float32x4_t& sum, uint16x8_t x, uint16x8_t w) {
    asm(MNNC_ARM_ASM "bfmmla %0.4s, %1.8h, %2.8h" : "+w"(sum) : "w"(x), "w"(w));
}

// Adds products to eight sums of fp16, each rounded (FEAT_FP16).
HWY_INLINE void multiplyHalves(uint16x8_t& sum, uint16x8_t x, uint16x8_t w) {
    asm(MNNC_ARM_ASM "fmla %0.8h, %1.8h, %2.8h" : "+w"(sum) : "w"(x), "w"(w));
}

// Rounds floats to bf16, to nearest even (FEAT_BF16).
HWY_INLINE uint16x4_t toBf16(float32x4_t x) {
    uint16x4_t out;
    asm(MNNC_ARM_ASM "bfcvtn %0.4h, %1.4s" : "=w"(out) : "w"(x));
    return out;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#else
#define MNNC_NEON64 0
#endif
#endif
