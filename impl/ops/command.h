// What the pipeline executes: an operator kind, its parameters and its tensors. Commands need no wire op, so
// fused, rewritten and geometry-made ones are equals of those that stood in the file.
#pragma once
#include <string>
#include <vector>

#include "ops/epilogue.h"
#include "ops/op_type.h"
#include "ops/operand_view.h"
#include "ops/params.h"
#include "tensor/region.h"
#include "tensor/tensor.h"

namespace mnnc {

struct Command {
    OpType type = OpType::Raster;
    std::string name;
    ParamsPtr params;
    std::vector<Tensor*> inputs;
    std::vector<Tensor*> outputs;
    std::vector<Region> regions;  // Raster only; elements no region touches become 0 (later regions win)
    // One for each operand, or none: the inputs themselves. Only where the backend takes them (Backend::canFuse).
    std::vector<OperandView> views;
    Epilogue epilogue;  // only where the backend said that it takes it (Backend::canFuse)

    // Inputs of the operator itself.
    size_t operands() const { return inputs.size() - (epilogue.residual ? 1 : 0); }
    // The parameters as the struct of the operator's family; null when the op carries none.
    template <typename T>
    const T* paramsAs() const {
        return static_cast<const T*>(params.get());
    }
};

}  // namespace mnnc
