// What the pipeline executes: an operator kind, its parameters and its tensors. Commands need no wire op, so
// fused, rewritten and geometry-made ones are equals of those that stood in the file.
#pragma once
#include <string>
#include <vector>

#include "base/op_type.h"
#include "ops/epilogue.h"
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
    // One for each operand, or none: the inputs themselves. Only where Backend::supportsViews().
    std::vector<OperandView> views;
    // What Backend::commonAlgorithm() answered for commands that share their weights; 0: the backend's own choice.
    int algorithm = 0;
    Epilogue epilogue;  // only where Backend::supportsPostOps()

    // Inputs of the operator itself.
    size_t operands() const { return inputs.size() - (epilogue.residual ? 1 : 0); }
    // The parameters as the struct of the operator's family; throws when the command carries none or others.
    template <typename T>
    const T& paramsAs() const {
        return mnnc::paramsAs<T>(params.get(), name.c_str());
    }
    // The same; null instead of an error.
    template <typename T>
    const T* paramsIf() const noexcept {
        return mnnc::paramsIf<T>(params.get());
    }
};

}  // namespace mnnc
