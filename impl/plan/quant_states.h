// What the pass quantize knows about tensors: their scales, and in which forms their values are there.
#pragma once
#include <unordered_map>
#include <vector>

#include "plan/graph.h"

namespace mnnc {

struct QuantState {
    TensorQuant quant;
    // What the values were before Rasters moved them about: one scale, or several (unknown).
    TensorQuant origin;
    bool hasOneProducer = true;  // or none
    bool inFloat = true;         // its own memory holds its values
    Operand* int8 = nullptr;     // and this one the same as int8
};

class QuantStates {
  public:
    using Ids = std::vector<CommandGraph::Id>;

    // The tensors of these commands.
    void note(const CommandGraph& graph, const Ids& ids);
    bool any() const { return any_; }
    // Scales known on one side of operators that keep values do for the other. Then origins begin.
    void propagate(const CommandGraph& graph, const Ids& ids);
    void followOrigins(const Command& raster);

    QuantState& operator[](const Operand* tensor) { return states_[tensor]; }
    // Whether the tensor may be kept as codes.
    bool isKnown(const Operand* tensor) {
        const QuantState& state = states_[tensor];
        return state.quant.known() && state.hasOneProducer;
    }

  private:
    void note(const CommandGraph& graph, const Operand* tensor);
    bool pass(const Operand* from, const Operand* to);

    std::unordered_map<const Operand*, QuantState> states_;
    bool any_ = false;
};

}  // namespace mnnc
