// Costs of a CPU as text: what a calibration writes and a runtime of the host reads.
//
//     mnn_c cpu costs 1
//     isa avx512
//     copy 3.1
//     ...
//
// A section for each instruction set that was measured; what a section leaves out stays as the library knows it.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// A cost beyond what parseCosts() takes, which a disturbed measurement may give, is written as the nearest one that it
// takes.
std::string writeCosts(const char* isa, const CycleCosts& costs);

// By the name of the instruction set. Throws InvalidValue, naming the line, for anything but such a text.
using CostSections = std::map<std::string, std::map<std::string, double>, std::less<>>;
CostSections parseCosts(std::string_view text);

// Replaces the costs that the section names.
void applyCosts(const std::map<std::string, double>& section, CycleCosts& costs);

}  // namespace mnnc
