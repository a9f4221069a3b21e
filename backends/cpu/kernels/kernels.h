// The kernel table: one per instruction set, chosen when a runtime is created.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mnnc {

enum class Isa { Portable, Neon, Sse4, Avx2, Avx512 };
constexpr int kMaxLanes = 16;  // floats in a vector of the widest instruction set

struct CpuCosts;      // cpu_costs.h
struct PanelKernels;  // these five: conv_kernels.h
struct Bf16Kernels;
struct DequantKernels;
struct DepthwiseKernels;
struct GroupedKernels;
struct WinogradKernels;  // winograd_kernels.h
struct PackKernels;      // pack.h
struct Int8Kernels;      // int8_kernels.h
struct W8A16Kernels;     // w8a16_kernels.h

struct Kernels {
    int lanes;        // P: channels in one block of the packed layout
    const char* isa;  // the name that selectKernels takes
    Isa id;
    const PanelKernels* panels;
    const Bf16Kernels* bf16;  // of bf16, or of fp16 on Arm CPUs that only have those; null where there are neither
    const DequantKernels* dequant;
    const DepthwiseKernels* depthwise;
    const GroupedKernels* grouped;
    const WinogradKernels* winograd;
    const PackKernels* pack;
    const Int8Kernels* int8;
    const W8A16Kernels* w8a16;  // null where the CPU or this build has no products of 16-bit integers
    const CpuCosts* costs;      // never null
};

// Returns the table for `isa`, or the best one for the empty string. Throws NotFound, naming the set that the CPU or
// this build lacks. The tables are constants: the reference stays valid.
const Kernels& selectKernels(std::string_view isa = "");

// Returns the names that selectKernels accepts on this CPU, best first.
std::vector<std::string> availableIsas();

}  // namespace mnnc
