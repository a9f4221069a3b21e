// The abilities of the CPU, which the first call reads from the hardware.
#pragma once
#include <string>

namespace mnnc {

struct CpuFeatures {
    bool ssse3 = false;
    bool sse4 = false;    // SSE4.1 and 4.2, popcnt excluded, AES and PCLMUL included (our SSE4 code uses both)
    bool avx2 = false;    // AVX2, FMA, F16C, BMI1, BMI2
    bool avx512 = false;  // F, VL, DQ, BW and everything that avx2 includes
    bool avx512Vnni = false;
    bool avx512Vbmi = false;
    bool avx512Bf16 = false;
    bool avxVnni = false;  // on 256 bits, with the encoding of AVX
    bool amxInt8 = false;  // products of byte matrices; the system has to allow them, too
    bool neon = false;
    // Arm only: products of bytes in fours, of byte matrices and of bf16 matrices, arithmetic of fp16.
    bool dotProd = false, i8mm = false, bf16 = false, fp16 = false;
};

CpuFeatures detectCpuFeatures();

// Returns the features as a line for people: "sse4 avx2 avx512 avx512_vnni".
std::string describeCpuFeatures(const CpuFeatures& features);

}  // namespace mnnc
