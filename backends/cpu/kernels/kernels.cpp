// The table of instruction sets and the choice among them.
#include "backends/cpu/kernels/kernels.h"

#include <array>
#include <iterator>

#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/costs/cost_records.h"
#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/int8/int8_kernels.h"
#include "backends/cpu/kernels/w8a16/w8a16_kernels.h"
#include "backends/cpu/kernels/winograd/winograd_kernels.h"
#include "backends/cpu/processor/cpu_features.h"
#include "base/error.h"

namespace mnnc {
namespace {

struct Choice {
    Isa id;
    const char* name;
    bool built;
};

#ifdef MNNC_WITHOUT_PORTABLE
constexpr bool kPortable = false;
#elif HWY_ARCH_ARM
constexpr bool kPortable = (HWY_TARGETS & HWY_EMU128) != 0;
#else
constexpr bool kPortable = (HWY_STATIC_TARGET != HWY_AVX3) && (HWY_STATIC_TARGET != HWY_AVX2);
#endif

// The sets of this kind of processor, best first. A build for x86 with a raised baseline (-march=...) has no code below
// that baseline.
constexpr Choice kChoices[] = {
#if HWY_ARCH_ARM
    {Isa::Neon, "neon", HWY_STATIC_TARGET != HWY_EMU128},
    {Isa::Portable, "portable", kPortable},
#else
    {Isa::Avx512, "avx512", (HWY_TARGETS & HWY_AVX3) != 0},
    {Isa::Avx2, "avx2", (HWY_TARGETS & HWY_AVX2) != 0},
    {Isa::Sse4, "sse4", (HWY_TARGETS & HWY_SSE4) != 0},
    {Isa::Portable, "portable", kPortable},
#endif
};

bool cpuHas(Isa id) {
    const CpuFeatures f = detectCpuFeatures();
    switch (id) {
        case Isa::Avx512:
            return f.avx512;
        case Isa::Avx2:
            return f.avx2;
        case Isa::Sse4:
            return f.sse4;
        case Isa::Neon:
            return f.neon;
        case Isa::Portable:
            break;
    }
    return true;
}

const Kernels& table(const Choice& choice) {
    // The costs are local to the function and built from constants and the CPU's features: no code runs at load time.
    static const auto costs = [] {
        const CoreKind kind = detectCoreKind();
        std::array<CpuCosts, std::size(kChoices)> all;
        for (size_t i = 0; i < all.size(); ++i) all[i] = costsOf(kChoices[i].id, kind);
        return all;
    }();
    static const auto tables = [] {
        std::array<Kernels, std::size(kChoices)> all{};
        for (size_t i = 0; i < all.size(); ++i) {
            const Choice& c = kChoices[i];
            const PanelKernels& panels = panelKernels(c.id);
            const CpuFeatures cpu = detectCpuFeatures();
            const Bf16Kernels* bf16 = cpu.avx512Bf16 || cpu.bf16 ? bf16Kernels(c.id)
                                      : cpu.fp16                 ? fp16Kernels(c.id)
                                                                 : nullptr;
            all[i] = Kernels{panels.lanes,
                             c.name,
                             c.id,
                             &panels,
                             bf16,
                             &dequantKernels(c.id),
                             &depthwiseKernels(c.id),
                             &groupedKernels(c.id),
                             &winogradKernels(c.id),
                             &packKernels(c.id),
                             &int8Kernels(c.id),
                             w8a16Kernels(c.id),
                             &costs[i]};
        }
        return all;
    }();
    return tables[static_cast<size_t>(&choice - kChoices)];
}

}  // namespace

const Kernels& selectKernels(std::string_view isa) {
    std::string known;
    for (const Choice& c : kChoices) {
        if (isa.empty()) {
            if (c.built && cpuHas(c.id)) return table(c);
            continue;
        }
        if (isa == c.name) {
            if (!c.built) fail(Status::NotFound, "this build has no %s kernels", c.name);
            if (!cpuHas(c.id)) {
                std::string usable;
                for (const std::string& name : availableIsas()) usable += (usable.empty() ? "" : ", ") + name;
                fail(Status::NotFound, "this CPU does not run %s; it runs %s", c.name, usable.c_str());
            }
            return table(c);
        }
        known += known.empty() ? "" : ", ";
        known += c.name;
    }
    if (isa.empty())
        fail(Status::NotFound, "this build has no portable kernels, and this CPU has only: %s",
             describeCpuFeatures(detectCpuFeatures()).c_str());
    fail(Status::NotFound, "instruction set \"%.*s\" is not known; known are %s", static_cast<int>(isa.size()),
         isa.data(), known.c_str());
}

std::vector<std::string> availableIsas() {
    std::vector<std::string> out;
    for (const Choice& c : kChoices) {
        if (c.built && cpuHas(c.id)) out.emplace_back(c.name);
    }
    return out;
}

}  // namespace mnnc
