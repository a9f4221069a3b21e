// Puts the table of int8 kernels together: with VNNI where the CPU and this build have it, else of pairs.
#include "backends/cpu/kernels/int8_kernels.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "backends/cpu/cpu_features.h"
#include "backends/cpu/kernels/dispatch.h"

namespace mnnc {
namespace {

constexpr Isa kIsas[] = {Isa::Portable, Isa::Neon, Isa::Sse4, Isa::Avx2, Isa::Avx512};

bool hasVnni(Isa isa) {
    const CpuFeatures cpu = detectCpuFeatures();
    switch (isa) {
        case Isa::Avx512:
            return (HWY_TARGETS & HWY_AVX3) != 0 && cpu.avx512Vnni;
        case Isa::Avx2:
            return (HWY_TARGETS & HWY_AVX2) != 0 && cpu.avxVnni;
        default:
            return false;
    }
}

Int8Kernels makeTable(Isa isa, Int8Product product) {
    const Int8GemmKernels& gemm = int8GemmKernels(isa, product);
    const Int8ElementKernels& elements = int8ElementKernels(isa);
    const Int8MapKernels& maps = int8MapKernels(isa);
    const bool vnni = product == Int8Product::Vnni, x86 = isa != Isa::Portable && isa != Isa::Neon;
    Int8Kernels table;
    table.lanes = gemm.lanes;
    table.unit = vnni ? 1 : 2;
    table.maxPanelBlocks = gemm.maxPanelBlocks;
    std::copy(std::begin(gemm.maxRows), std::end(gemm.maxRows), table.maxRows);
    table.panel = gemm.panel;
    table.depthwise = int8DepthwiseKernel(isa, product);
    table.widen = elements.widen[static_cast<size_t>(product)];
    table.quantize = elements.quantize;
    table.dequantize = elements.dequantize;
    table.binary = elements.binary;
    table.maximum = elements.maximum;
    // Bytes are looked up by AVX512_VBMI where there is VNNI: a table without the one leaves out the other.
    table.lookup = vnni && maps.lookupVbmi && detectCpuFeatures().avx512Vbmi ? maps.lookupVbmi : maps.lookup;
    table.affine = maps.affine;
    table.resizeLinear = maps.resizeLinear;
    table.name = vnni ? "vnni" : x86 ? "madd" : "portable";
    return table;
}

}  // namespace

const Int8Kernels& int8Kernels(Isa isa, bool vnni) {
    struct Tables {
        Int8Kernels pairs, vnni;
    };
    static const auto tables = [] {
        std::array<Tables, std::size(kIsas)> all;
        for (const Isa each : kIsas)
            all[static_cast<size_t>(each)] = {
                makeTable(each, Int8Product::Pairs),
                makeTable(each, hasVnni(each) ? Int8Product::Vnni : Int8Product::Pairs)};
        return all;
    }();
    const Tables& table = tables[static_cast<size_t>(isa)];
    return vnni && hasVnni(isa) ? table.vnni : table.pairs;
}

}  // namespace mnnc
