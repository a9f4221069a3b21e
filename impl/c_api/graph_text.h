// The reports "graph" of a model and of a session, in JSON.
#pragma once
#include <string>

#include "session/session.h"

namespace mnnc {

// The name of an operator's type; "Unknown(123)" for a number that this library does not know.
std::string typeText(OpType type);
std::string modelGraphText(const Net& net);
// Numbers of graphs, operators and tensors are those in the report of the model.
std::string planGraphText(const Session& session);

}  // namespace mnnc
