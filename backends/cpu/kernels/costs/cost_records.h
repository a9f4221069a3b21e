// Which costs the plans of this CPU are compared with: those of the nearest record, fitted to the CPU's caches.
//
// To add a record: run `mnn calibrate --output FILE` on a machine that does nothing else, compare whole nets with and
// without FILE, and add what gained to the table in cost_records.cpp.
#pragma once
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/processor/core_kind.h"

namespace mnnc {

struct CostRecord {
    const char* name;  // of the core
    Isa isa;           // that it was measured with
    CoreKind kind;
    unsigned parts[10];  // of Arm: the cores that it describes, as CoreKind::part; then 0
    CycleCosts cycles;
};

// The record that names the core's part; else one of the same instruction set, or the next one, and of these the one
// with the most similar instructions and caches. A pure function: the same CPU gets the same record in every process.
const CostRecord& nearestRecord(Isa isa, const CoreKind& kind);

// That record's costs with cache budgets in proportion to the second level cache, which is the record's where the
// core's is not known.
CpuCosts costsOf(Isa isa, const CoreKind& kind);

}  // namespace mnnc
