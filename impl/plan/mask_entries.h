// Where attention over kept keys and values finds its mask: an entry of an input, or what a command made.
#pragma once
#include <optional>
#include <vector>

#include "plan/graph.h"

namespace mnnc {

// A mask that Rasters take out of an input which comes from outside: one of the entries [rows][keys] of it.
struct MaskRead {
    Operand* source = nullptr;
    int entry = 0;
    std::vector<CommandGraph::Id> rasters;  // between them
};

// Nothing where the command is no such attention, has no mask, or its mask is made in another way.
std::optional<MaskRead> maskRead(const CommandGraph& graph, CommandGraph::Id attention);

}  // namespace mnnc
