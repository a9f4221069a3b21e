// Operators of the host, for nodes that the library does not run: they read all that they are shown, and answer at
// random.
#pragma once
#include <mnn_c.h>

#include "random.h"

namespace fuzz {

// Registers them before the first session. The interpreter keeps what they need.
void addOwnOperators(mnn_interpreter_t* net, Random& random);

}  // namespace fuzz
