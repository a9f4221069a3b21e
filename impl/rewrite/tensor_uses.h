// Who makes and who reads the tensors of a list of commands.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ops/command.h"

namespace mnnc {

class TensorUses {
  public:
    static constexpr size_t kNone = SIZE_MAX;
    struct Use {
        size_t maker = kNone;  // the last one
        int makers = 0, readers = 0;
    };

    // Of the commands that own themselves: what another has absorbed is not run.
    TensorUses(const std::vector<Command*>& commands, const std::vector<size_t>& owners) {
        for (size_t i = 0; i < commands.size(); ++i) {
            if (owners[i] != i) continue;
            for (const Tensor* output : commands[i]->outputs) {
                uses_[output].maker = i;
                ++uses_[output].makers;
            }
            for (const Tensor* input : commands[i]->inputs) ++uses_[input].readers;
        }
    }

    // Of a tensor that one of the commands makes or reads.
    const Use& of(const Tensor* tensor) const { return uses_.at(tensor); }

  private:
    std::unordered_map<const Tensor*, Use> uses_;
};

// One float in, one float out, nothing added.
inline bool isPlain(const Command& command) {
    return command.params && command.inputs.size() == 1 && command.outputs.size() == 1 &&
           !command.epilogue.residual && command.views.empty() &&
           command.inputs[0]->type == DataType::Float32 && command.outputs[0]->type == DataType::Float32;
}

}  // namespace mnnc
