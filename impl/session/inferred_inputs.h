// Session inputs that are tensors from the middle of the net: infers shape and type where the caller gives none.
#pragma once
#include <optional>
#include <vector>

#include "session/pipeline.h"

namespace mnnc {

// Returns the shape with a batch of 1 where the batch is open; the caller has to give other open extents.
Shape defaultShape(Shape declared);

// Infers tensors of the main graph, without contents, for the shapes that the model declares for its inputs. The result
// is empty for a tensor that is unknown before a run, or when an operator before it is unsupported here.
std::vector<std::optional<Operand>> inferInputs(SessionContext& context, const std::vector<int>& ids);

}  // namespace mnnc
