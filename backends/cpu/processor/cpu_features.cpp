// Reads the features of the CPU with CPUID, or from the kernel on Arm.
#include "backends/cpu/processor/cpu_features.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <initializer_list>

#include "base/os/threads.h"

namespace mnnc {

#if defined(__x86_64__) || defined(__i386__)
namespace {

// The answers of CPUID, and the registers that the system saves. __builtin_cpu_supports() knows as much with GCC, but
// the helper that Zig's compiler links for it reports every feature as missing.
struct X86Words {
    unsigned c1 = 0, b7 = 0, c7 = 0, d7 = 0, a71 = 0;
    unsigned saved = 0;

    X86Words() noexcept {
        unsigned a = 0, b = 0, c = 0, d = 0;
        if (__get_cpuid(1, &a, &b, &c1, &d) && (c1 >> 27 & 1)) __asm__("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
        if (__get_cpuid_count(7, 0, &a, &b7, &c7, &d7) && a >= 1) __get_cpuid_count(7, 1, &a71, &b, &c, &d);
    }
    bool saves(unsigned mask) const noexcept { return (saved & mask) == mask; }
};

bool all(unsigned word, std::initializer_list<int> bits) noexcept {
    for (const int bit : bits)
        if (!(word >> bit & 1)) return false;
    return true;
}

}  // namespace
#endif

namespace {

CpuFeatures readCpuFeatures() noexcept {
    CpuFeatures f;
#if defined(__x86_64__) || defined(__i386__)
    const X86Words words;
    const bool wide = words.saves(0x6), widest = words.saves(0xe6);  // the registers ymm, and zmm with the masks
    f.ssse3 = words.c1 >> 9 & 1;
    f.sse4 = f.ssse3 && all(words.c1, {19, 20, 1, 25});  // SSE4.1, SSE4.2, PCLMUL, AES
    // AVX, FMA, F16C; AVX2, BMI, BMI2
    f.avx2 = f.sse4 && wide && all(words.c1, {28, 12, 29}) && all(words.b7, {5, 3, 8});
    f.avx512 = f.avx2 && widest && all(words.b7, {16, 31, 17, 30});  // F, VL, DQ, BW
    f.avx512Vnni = f.avx512 && (words.c7 >> 11 & 1);
    f.avx512Vbmi = f.avx512 && (words.c7 >> 1 & 1);
    f.avx512Bf16 = f.avx512 && (words.a71 >> 5 & 1);
    f.avxVnni = f.avx2 && (words.a71 >> 4 & 1);
    f.amxInt8 = f.avx512 && (words.d7 >> 24 & 3) == 3;  // AMX-TILE and AMX-INT8
#elif defined(__aarch64__) || defined(__ARM_NEON)
    f.neon = true;
#endif
#if defined(__aarch64__)
    // Bits of Linux' HWCAP: ASIMDDP, FPHP and ASIMDHP; of HWCAP2: I8MM and BF16.
    const auto [capabilities, more] = os::armCapabilities();
    f.dotProd = capabilities >> 20 & 1;
    f.fp16 = (capabilities >> 9 & 1) && (capabilities >> 10 & 1);
    f.i8mm = f.dotProd && (more >> 13 & 1);
    f.bf16 = more >> 14 & 1;
#endif
    return f;
}

}  // namespace

// The features are read once, because CPUID leaves a virtual machine, which takes microseconds.
CpuFeatures detectCpuFeatures() {
    static const CpuFeatures features = readCpuFeatures();
    return features;
}

std::string describeCpuFeatures(const CpuFeatures& f) {
    std::string out;
    const auto add = [&](bool have, const char* name) {
        if (!have) return;
        if (!out.empty()) out += ' ';
        out += name;
    };
    add(f.ssse3, "ssse3");
    add(f.sse4, "sse4");
    add(f.avx2, "avx2");
    add(f.avx512, "avx512");
    add(f.avx512Vnni, "avx512_vnni");
    add(f.avx512Vbmi, "avx512_vbmi");
    add(f.avx512Bf16, "avx512_bf16");
    add(f.avxVnni, "avx_vnni");
    add(f.amxInt8, "amx_int8");
    add(f.neon, "neon");
    add(f.dotProd, "dotprod");
    add(f.i8mm, "i8mm");
    add(f.bf16, "bf16");
    add(f.fp16, "fp16");
    return out;
}

}  // namespace mnnc
