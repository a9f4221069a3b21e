// Chooses the costs with which plans for this CPU are compared: those of the nearest record, fitted to the CPU's
// caches.
//
// To add a record: run `mnn calibrate --output FILE` on a machine that is otherwise idle, compare whole nets with and
// without FILE, and add the costs that made them faster to the table in cost_records.cpp.
#pragma once
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/processor/core_kind.h"

namespace mnnc {

struct CostRecord {
    const char* name;  // of the core
    Isa isa;           // with which it was measured
    CoreKind kind;
    unsigned parts[10];  // Arm only: the cores that it describes, as CoreKind::part; then 0
    CycleCosts cycles;
};

// Returns the record that names the core's part; else one of the same instruction set, or of the next one, and among
// these the record with the most similar instructions and caches. The function is pure: the same CPU gets the same
// record in every process.
const CostRecord& nearestRecord(Isa isa, const CoreKind& kind);

// Returns that record's costs with cache budgets in proportion to the second level cache. Where the core's cache is not
// known, the record's cache is used.
CpuCosts costsOf(Isa isa, const CoreKind& kind);

}  // namespace mnnc
