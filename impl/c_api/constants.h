// The named constants of a session.
#pragma once
#include "c_api/guard.h"

namespace mnnc {

// What the Const and TrainableParam operators of the main graph make, in the order of the file.
std::vector<SessionTensor> namedConstants(const Session& session);

}  // namespace mnnc
