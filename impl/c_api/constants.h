// The named constants of a session.
#pragma once
#include "c_api/guard.h"

namespace mnnc {

// The outputs of the Const and TrainableParam operators of the main graph, in file order.
std::vector<SessionTensor> namedConstants(const Session& session);

}  // namespace mnnc
