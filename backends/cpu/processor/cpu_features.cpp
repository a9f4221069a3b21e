// Reads the features of the CPU with CPUID, or from the kernel on Arm.
#include "backends/cpu/processor/cpu_features.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "base/os/threads.h"

namespace mnnc {

CpuFeatures detectCpuFeatures() {
    CpuFeatures f;
#if defined(__x86_64__) || defined(__i386__)
    // The compiler's own helper also checks whether the system saves the wide registers.
    __builtin_cpu_init();
    f.ssse3 = __builtin_cpu_supports("ssse3");
    f.sse4 = f.ssse3 && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
             __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes");
    f.avx2 = f.sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    f.avx512 = f.avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    f.avx512Vnni = f.avx512 && __builtin_cpu_supports("avx512vnni");
    f.avx512Vbmi = f.avx512 && __builtin_cpu_supports("avx512vbmi");
    f.avx512Bf16 = f.avx512 && __builtin_cpu_supports("avx512bf16");
    // The helper of older compilers does not know these.
    unsigned a = 0, b = 0, c = 0, d = 0;
    f.avxVnni = f.avx2 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
    f.amxInt8 = f.avx512 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 24 & 3) == 3;  // with its registers
#elif defined(__aarch64__) || defined(__ARM_NEON)
    f.neon = true;
#endif
#if defined(__aarch64__)
    // Bits of the kernel's interface: ASIMDDP, FPHP and ASIMDHP; I8MM and BF16.
    const auto [capabilities, more] = os::armCapabilities();
    f.dotProd = capabilities >> 20 & 1;
    f.fp16 = (capabilities >> 9 & 1) && (capabilities >> 10 & 1);
    f.i8mm = f.dotProd && (more >> 13 & 1);
    f.bf16 = more >> 14 & 1;
#endif
    return f;
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
