// Assembles the tables of int8 kernels from the best products that the CPU and this build have.
#include "backends/cpu/kernels/int8/int8_kernels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <tuple>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/int8/int8_winograd.h"
#include "backends/cpu/processor/cpu_features.h"

namespace mnnc {
namespace {

constexpr Isa kIsas[] = {Isa::Portable, Isa::Neon, Isa::Sse4, Isa::Avx2, Isa::Avx512};

bool has(Isa isa, Int8Product product) {
    const CpuFeatures cpu = detectCpuFeatures();
    switch (product) {
        case Int8Product::Pairs:
            return true;
        case Int8Product::Vnni:
            return (isa == Isa::Avx512 && (HWY_TARGETS & HWY_AVX3) != 0 && cpu.avx512Vnni) ||
                   (isa == Isa::Avx2 && (HWY_TARGETS & HWY_AVX2) != 0 && cpu.avxVnni);
        case Int8Product::Dot:
            return isa == Isa::Neon && HWY_ARCH_ARM_A64 && cpu.dotProd;
        case Int8Product::Matrix:
            return isa == Isa::Neon && HWY_ARCH_ARM_A64 && cpu.i8mm;
        case Int8Product::Bytes:
            return int8ByteGemmKernels(isa) != nullptr;
        case Int8Product::WordSums:
            break;
    }
    return false;
}

void copyAsIs(const int8_t* src, char* dst, size_t count) {
    std::memcpy(dst, src, count);
}

Int8Kernels makeTable(Isa isa, Int8Product product) {
    const bool vnni = product == Int8Product::Vnni, pairs = product == Int8Product::Pairs,
               bytes = product == Int8Product::Bytes;
    const Int8GemmKernels& gemm = bytes           ? *int8ByteGemmKernels(isa)
                                  : vnni || pairs ? int8GemmKernels(isa, product)
                                                  : int8ArmGemmKernels(product);
    const Int8ElementKernels& elements = int8ElementKernels(isa);
    const Int8MapKernels& maps = int8MapKernels(isa);
    const bool x86 = isa != Isa::Portable && isa != Isa::Neon;
    Int8Kernels table;
    table.lanes = gemm.lanes;
    table.unit = pairs ? 2 : 1;
    table.zero = vnni || pairs ? 128 : 0;
    // Pairs take two instructions: two products that add, or a product and an addition. Portable code takes twice as
    // many. Two steps of bytes take two products, a third one that widens their sum, and two additions.
    table.instructions = bytes ? 2.5 : product == Int8Product::Matrix ? 0.5 : !pairs ? 1 : isa == Isa::Portable ? 4 : 2;
    table.pairsApart = pairs && isa == Isa::Neon && HWY_ARCH_ARM_A64;
    table.stepsTogether = product == Int8Product::Matrix ? 2 : 1;
    table.clearUnfit = gemm.clearUnfit;
    table.maxPanelBlocks = gemm.maxPanelBlocks;
    std::copy(std::begin(gemm.maxRows), std::end(gemm.maxRows), table.maxRows);
    table.panel = gemm.panel;
    table.depthwise = int8DepthwiseKernel(isa, bytes ? Int8Product::Pairs : product);
    table.widen = table.zero == 0 ? &copyAsIs : elements.widen[vnni];
    // With AVX2 blocks of channels are short, so a row of pixels is read at many places and misses the first level
    // cache.
    table.widenPixels = isa != Isa::Avx2 ? nullptr
                        : bytes          ? elements.copyPixels
                        : pairs          ? elements.widenPixels
                                         : nullptr;
    table.quantize = elements.quantize;
    table.dequantize = elements.dequantize;
    table.binary = elements.binary;
    table.maximum = elements.maximum;
    table.average = elements.average;
    // AVX512_VBMI is used only together with VNNI, so that a table without VNNI uses neither.
    table.lookup = vnni && maps.lookupVbmi && detectCpuFeatures().avx512Vbmi ? maps.lookupVbmi : maps.lookup;
    table.affine = maps.affine;
    table.leaky = maps.leaky;
    table.resizeLinear = maps.resizeLinear;
    table.pairSums = vnni ? &int8GemmKernels(isa, Int8Product::WordSums) : pairs ? &gemm : nullptr;
    table.winograd = table.pairSums ? int8WinogradTransforms(isa) : nullptr;
    table.name = vnni                             ? "vnni"
                 : bytes                          ? "maddubs"
                 : product == Int8Product::Dot    ? "dotprod"
                 : product == Int8Product::Matrix ? "i8mm"
                 : x86                            ? "madd"
                                                  : "portable";
    return table;
}

}  // namespace

const Int8Kernels* int8Kernels(Isa isa, Int8Product product) {
    // There is one table for each kind of products; where the CPU or this build lacks a kind, its place holds the table
    // of pairs.
    using Tables = std::array<Int8Kernels, 5>;
    static const auto tables = [] {
        std::array<Tables, std::size(kIsas)> all;
        for (const Isa each : kIsas)
            for (size_t i = 0; i < std::tuple_size_v<Tables>; ++i) {
                const auto kind = static_cast<Int8Product>(i);
                all[static_cast<size_t>(each)][i] = makeTable(each, has(each, kind) ? kind : Int8Product::Pairs);
            }
        return all;
    }();
    return has(isa, product) ? &tables[static_cast<size_t>(isa)][static_cast<size_t>(product)] : nullptr;
}

const Int8Kernels& int8Kernels(Isa isa) {
    for (const Int8Product kind : {Int8Product::Matrix, Int8Product::Dot, Int8Product::Vnni})
        if (const Int8Kernels* kernels = int8Kernels(isa, kind)) return *kernels;
    return *int8Kernels(isa, Int8Product::Pairs);
}

}  // namespace mnnc
