// The session part of the model target.
#pragma once
#include <mnn_c.h>

#include "random.h"

namespace fuzz {

constexpr uint64_t kMaxMemory = 4u << 20;  // of a session

struct SessionUses {
    bool ran = false;
    int resized = 0;  // runs after a resize
    int ended = 0;    // runs and resizes that a token or a callback ended
};

// resizes: how often the shapes of its inputs change. watched: with tokens and callbacks, too.
SessionUses useSession(mnn_session_t* session, Random& random, int resizes, bool watched);

}  // namespace fuzz
