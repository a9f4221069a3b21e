// Compiles one source file for several instruction sets.
//
// A kernel file looks like this:
//     #include "backends/cpu/kernels/dispatch.h"
//     #undef HWY_TARGET_INCLUDE
//     #define HWY_TARGET_INCLUDE "backends/cpu/kernels/this_file.cpp"
//     #include "hwy/foreach_target.h"
//     #include "hwy/highway.h"
//     HWY_BEFORE_NAMESPACE();
//     namespace mnnc {
//     namespace HWY_NAMESPACE {
//     const MyTable& myTable() { static constexpr MyTable t{...}; return t; }
//     }  // namespace HWY_NAMESPACE
//     }  // namespace mnnc
//     HWY_AFTER_NAMESPACE();
//     #if HWY_ONCE
//     namespace mnnc {
//     const MyTable& myTable(Isa isa) { MNNC_SELECT(isa, myTable) }
//     }  // namespace mnnc
//     #endif
//
// Highway's own dispatcher is not used: it keeps its choice in process-wide state inside libhwy.
#pragma once

// The targets that the build leaves out (MNN_C_ISAS of CMake), as Highway's names joined with |.
#ifndef MNNC_LEFT_OUT_TARGETS
#define MNNC_LEFT_OUT_TARGETS 0
#endif
// The layouts know 4 lanes (baseline, SSE4 or NEON), 8 (AVX2) and 16 (AVX-512).
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
    (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | (MNNC_LEFT_OUT_TARGETS))
#endif
// NEON is the baseline of 64-bit Arm, and Highway leaves out targets below the baseline by default.
#if defined(__aarch64__) && !defined(HWY_COMPILE_ALL_ATTAINABLE)
#define HWY_COMPILE_ALL_ATTAINABLE
#endif
// The portable code must have 4 lanes, so it is Highway's 128-bit emulation. Highway disables that on GCC before 12.3
// because of a defect in vectorised 16-bit high-half products (GCC PR 106322); kernels must not use those (MulHigh).
#ifndef HWY_BROKEN_EMU128
#define HWY_BROKEN_EMU128 0
#endif
// Under sanitizers Highway would call its library, which is not linked, where an index of a shuffle is out of range.
#ifndef HWY_IS_DEBUG_BUILD
#define HWY_IS_DEBUG_BUILD 0
#endif
#include "backends/cpu/kernels/kernels.h"
#include "hwy/detect_targets.h"

#if HWY_TARGETS & HWY_AVX3
#define MNNC_CASE_AVX512(fn) \
    case Isa::Avx512:        \
        return N_AVX3::fn();
#else
#define MNNC_CASE_AVX512(fn)
#endif
#if HWY_TARGETS & HWY_AVX2
#define MNNC_CASE_AVX2(fn) \
    case Isa::Avx2:        \
        return N_AVX2::fn();
#else
#define MNNC_CASE_AVX2(fn)
#endif
#if HWY_TARGETS & HWY_SSE4
#define MNNC_CASE_SSE4(fn) \
    case Isa::Sse4:        \
        return N_SSE4::fn();
#else
#define MNNC_CASE_SSE4(fn)
#endif
#if HWY_TARGETS & HWY_EMU128
#define MNNC_CASE_PORTABLE(fn) \
    case Isa::Portable:        \
        return N_EMU128::fn();
#else
#define MNNC_CASE_PORTABLE(fn)
#endif
// Every other instruction set runs the baseline (portable code, or NEON on Arm), whose namespace is HWY_NAMESPACE once
// foreach_target.h is done.
#define MNNC_SELECT(isa, fn)   \
    switch (isa) {             \
        MNNC_CASE_AVX512(fn)   \
        MNNC_CASE_AVX2(fn)     \
        MNNC_CASE_SSE4(fn)     \
        MNNC_CASE_PORTABLE(fn) \
        default:               \
            break;             \
    }                          \
    return HWY_NAMESPACE::fn();
