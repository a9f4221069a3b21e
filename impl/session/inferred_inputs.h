// Inputs of a session that are tensors from the middle of the net: what they are when the caller does not say.
#pragma once
#include <optional>
#include <vector>

#include "session/pipeline.h"

namespace mnnc {

// An open batch means 1; other open extents have to be given.
Shape defaultShape(Shape declared);

// What the net makes of tensors of the main graph for the shapes that the model declares for its inputs, without
// contents; none where that is not known before a run, or where an operator before them cannot run here.
std::vector<std::optional<Operand>> inferInputs(SessionContext& context, const std::vector<int>& ids);

}  // namespace mnnc
