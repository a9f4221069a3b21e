// The parameter tables that an operator accepts (operators.def). They are used only for loading: the operators read
// their tables through the generated, type-checked accessors.
#pragma once
#include "base/op_type.h"
#include "mnn_generated.h"

namespace mnnc {

enum class TableUse : uint8_t { Required, Optional, Unchecked };  // as operators.def describes them

struct TableRule {
    OpType type;
    TableUse use;
    wire::OpParameter tables[3];

    bool accepts(wire::OpParameter table) const noexcept;
};

// Null for an unknown operator, and for those whose tables are unchecked.
const TableRule* findTableRule(OpType type) noexcept;

}  // namespace mnnc
