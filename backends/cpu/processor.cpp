// Describes the processor of this machine for people, and measures and reads the costs of its kernels.
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "backends/cpu/cpu_runtime.h"
#include "backends/cpu/kernels/costs/calibrate.h"
#include "backends/cpu/kernels/costs/cost_records.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/processor/cpu_features.h"
#include "backends/cpu/processor_costs.h"
#include "base/os/threads.h"

namespace mnnc::cpu {

ProcessorDescription describeProcessor() {
    const CpuFeatures features = detectCpuFeatures();
    ProcessorDescription cpu;
    cpu.isas = availableIsas();
    cpu.features = describeCpuFeatures(features);
    const CoreKind kind = detectCoreKind();
    cpu.level1Bytes = kind.caches.level1Data;
    cpu.level2Bytes = kind.caches.level2;
    cpu.costRecord = nearestRecord(selectKernels().id, kind).name;
    cpu.logicalCores = os::onlineCores();
#if defined(__x86_64__) || defined(__i386__)
    cpu.int8Products = features.avx512Vnni || features.avxVnni ? 1 : 0;
    cpu.bf16Products = features.avx512Bf16 ? 1 : 0;
    unsigned a = 0, b = 0, c = 0, d = 0;
    cpu.fp16Arithmetic = features.avx512 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 23 & 1) ? 1 : 0;
#elif defined(__aarch64__)
    cpu.int8Products = features.dotProd;
    cpu.bf16Products = features.bf16;
    cpu.fp16Arithmetic = features.fp16;
#endif
    return cpu;
}

std::string calibrate(const std::string& isa, const std::function<void()>& check) {
    const Kernels& kernels = selectKernels(isa);
    return writeCosts(kernels.isa, mnnc::calibrate(kernels, check));
}

std::shared_ptr<const ProcessorCosts> readCosts(std::string_view text) {
    return std::make_shared<ProcessorCosts>(ProcessorCosts{parseCosts(text)});
}

}  // namespace mnnc::cpu
