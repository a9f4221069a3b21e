// Costs of a CPU as text, which a calibration writes and a runtime of the host reads.
//
//     mnn_c cpu costs 1
//     isa avx512
//     copy 3.1
//     ...
//
// There is a section for each instruction set that was measured. Costs that a section omits keep the library's values.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// A cost beyond the range of parseCosts(), which a disturbed measurement may give, is written as the nearest value
// inside.
std::string writeCosts(const char* isa, const CycleCosts& costs);

// Sections by the name of the instruction set. parseCosts() throws InvalidValue, naming the line, for any text of
// another form.
using CostSections = std::map<std::string, std::map<std::string, double>, std::less<>>;
CostSections parseCosts(std::string_view text);

// Replaces the costs that the section names.
void applyCosts(const std::map<std::string, double>& section, CycleCosts& costs);

}  // namespace mnnc
