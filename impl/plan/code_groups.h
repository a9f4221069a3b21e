// Commands that may compute over int8 codes beyond those of the reference.
#pragma once
#include <functional>
#include <vector>

#include "backend/backend.h"
#include "plan/graph.h"

namespace mnnc {

// Commands of one result that compute over codes together: an element-wise chain of one input (a function of its
// codes), or a single one. The last one makes the result.
struct CodeGroup {
    std::vector<CommandGraph::Id> members;
    Command fused;  // of a chain
    bool isChain() const { return fused.type == OpType::Fused; }
};

// What is known already.
struct CodeQuery {
    std::function<const TensorQuant*(const Operand*)> quantOf;  // null: no scale, or several producers
    std::function<bool(CommandGraph::Id)> computesCodes;        // like the reference
    std::function<bool(const Operand*)> isMadeOfCodes;          // by the net itself
};

// Those whose operands are made as codes and whose readers take nothing but codes: between casts they would round at
// the same place.
std::vector<CodeGroup> findCodeGroups(const CommandGraph& graph, const Backend& backend, const CodeQuery& query);

// The operand of a sum or product with one value for each channel that stays float; null: there is none.
Operand* floatOperand(const Command& command);
// Whether the codes of the result are codes of the operands, so that all have to be of one scale.
bool movesCodes(const Command& command);

}  // namespace mnnc
