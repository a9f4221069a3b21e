// Commands that may compute over int8 codes although the reference computes them in floats.
#pragma once
#include <functional>
#include <vector>

#include "backend/backend.h"
#include "plan/graph.h"

namespace mnnc {

// Commands that compute over codes together and have one result: a single command, or an element-wise chain of one
// input, which is a function of the input's codes. The last command produces the result.
struct CodeGroup {
    std::vector<CommandGraph::Id> members;
    Command fused;  // for a chain
    bool isChain() const { return fused.type == OpType::Fused; }
};

// The facts about tensors and commands that the search depends on.
struct CodeQuery {
    std::function<const TensorQuant*(const Operand*)> quantOf;  // null: no scale, or several producers
    std::function<bool(CommandGraph::Id)> computesCodes;        // the reference computes it over codes, too
    std::function<bool(const Operand*)> isMadeOfCodes;          // the net itself contains the codes
};

// Finds the commands whose operands are produced as codes and whose consumers take only codes. Conversions to float
// before them and back behind them would round at the same places.
std::vector<CodeGroup> findCodeGroups(const CommandGraph& graph, const Backend& backend, const CodeQuery& query);

// Returns the operand of a sum or product that has one value for each channel and stays float; null: there is none.
Operand* floatOperand(const Command& command);
// Returns whether the command only moves codes, so that operands and result need the same scale.
bool movesCodes(const Command& command);

}  // namespace mnnc
