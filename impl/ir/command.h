// An instruction that a session executes: an operator kind, its parameters and its tensors. Commands need no operator
// in the file, so fused, rewritten and geometry-made ones are like all others.
#pragma once
#include <string>
#include <vector>

#include "base/op_type.h"
#include "ir/epilogue.h"
#include "ir/operand_view.h"
#include "ir/params.h"
#include "tensor/operand.h"
#include "tensor/region.h"

namespace mnnc {

template <typename T>
struct CommandOver {
    OpType type = OpType::Raster;
    std::string name;
    ParamsPtr params;
    std::vector<T*> inputs;
    std::vector<T*> outputs;
    std::vector<Region> regions;  // Raster only; elements that no region writes become 0 (later regions win)
    // One for each operand; empty: the inputs themselves. Not empty only if Backend::supportsViews() accepts the
    // command.
    std::vector<OperandView> views;
    // The result of Backend::commonAlgorithm() for commands that share their weights; 0: the backend chooses.
    int algorithm = 0;
    Epilogue epilogue;  // only where Backend::supportsPostOps()
    bool fp32 = false;  // Precision::Low does not apply to it, nor to commands that were merged into it
    int node = -1;      // Node::number of the node to which the command belongs; -1: none, a pass inserted the command

    // Returns the number of inputs without the epilogue's.
    size_t operands() const { return inputs.size() - (epilogue.residual ? 1 : 0); }
    // Returns the parameters as the struct of the operator's family; throws when the command has none or others.
    template <typename P>
    const P& paramsAs() const {
        return mnnc::paramsAs<P>(params.get(), name.c_str());
    }
    // Does the same, but returns null instead of throwing.
    template <typename P>
    const P* paramsIf() const noexcept {
        return mnnc::paramsIf<P>(params.get());
    }
};

// Returns the same command over other operands: to(operand) replaces each one.
template <typename T, typename From, typename To>
CommandOver<T> mapOperands(const CommandOver<From>& command, To&& to) {
    CommandOver<T> result{
        command.type,  command.name,      command.params,   {},           {},          command.regions,
        command.views, command.algorithm, command.epilogue, command.fp32, command.node};
    for (From* input : command.inputs) result.inputs.push_back(to(input));
    for (From* output : command.outputs) result.outputs.push_back(to(output));
    return result;
}

// A command over values, as geometry emits it.
using ValueCommand = CommandOver<Tensor>;
// A command over operands of a program.
using Command = CommandOver<Operand>;

}  // namespace mnnc
