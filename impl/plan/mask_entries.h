// The mask of attention over kept keys and values: an entry of an input, or the result of a command.
#pragma once
#include <optional>
#include <vector>

#include "plan/graph.h"

namespace mnnc {

// A mask that Rasters copy out of an input of the model: one of its entries [rows][keys].
struct MaskRead {
    Operand* source = nullptr;
    int entry = 0;
    std::vector<CommandGraph::Id> rasters;  // the Rasters between the attention and the input
};

// Returns the mask of an attention; nothing where the command is no such attention, has no mask, or has one that is
// made in another way.
std::optional<MaskRead> maskRead(const CommandGraph& graph, CommandGraph::Id attention);

}  // namespace mnnc
