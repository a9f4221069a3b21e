// Operators of the host, for nodes that the library does not run: they read all their arguments, and set random
// results.
#pragma once
#include <mnn_c.h>

#include "random.h"

namespace fuzz {

// Registers them before the first session. The interpreter keeps their objects.
void addOwnOperators(mnn_interpreter_t* net, Random& random);

}  // namespace fuzz
