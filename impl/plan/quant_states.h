// The knowledge of the pass quantize about tensors: their scales, and the forms in which their values exist.
#pragma once
#include <unordered_map>
#include <vector>

#include "plan/graph.h"

namespace mnnc {

struct QuantState {
    TensorQuant quant;
    // The scale that the values had before Rasters moved them; unknown where there were several.
    TensorQuant origin;
    bool atMostOneProducer = true;
    bool inFloat = true;      // the tensor's own memory has the values as floats
    Operand* int8 = nullptr;  // a tensor with the same values as int8
};

class QuantStates {
  public:
    using Ids = std::vector<CommandGraph::Id>;

    // Adds the tensors of these commands.
    void note(const CommandGraph& graph, const Ids& ids);
    bool any() const { return any_; }
    // Passes scales through operators that keep values, in both directions, but not to tensors that the file states to
    // be floats. Then sets the origins.
    void propagate(const CommandGraph& graph, const Ids& ids);
    void followOrigins(const Command& raster);

    QuantState& operator[](const Operand* tensor) { return states_[tensor]; }
    // Returns whether the tensor may be kept as codes.
    bool isKnown(const Operand* tensor) {
        const QuantState& state = states_[tensor];
        return state.quant.known() && state.atMostOneProducer;
    }

  private:
    void note(const CommandGraph& graph, const Operand* tensor);
    bool pass(const Operand* from, const Operand* to);

    std::unordered_map<const Operand*, QuantState> states_;
    bool any_ = false, statesFloats_ = false;
};

}  // namespace mnnc
