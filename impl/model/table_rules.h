// Which parameter tables an operator accepts and how many tensors it needs at least.
// Only for loading: the operators read their table through the generated, type-checked accessors.
#pragma once
#include "mnn_generated.h"
#include "ops/op_type.h"

namespace mnnc {

struct OpRule {
    OpType type;
    int8_t minInputs;
    int8_t minOutputs;
    // The operator works without a table, and then also treats a foreign one as absent.
    bool tableOptional;
    wire::OpParameter tables[3];

    bool accepts(wire::OpParameter table) const noexcept;
};

// nullptr for an unknown operator and for those no converter writes.
const OpRule* findOpRule(OpType type) noexcept;

}  // namespace mnnc
