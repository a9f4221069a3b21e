// Counts the rounds of a loop against max_loop_iterations.
#pragma once
#include <string>

#include "session/session_context.h"

namespace mnnc {

// Rounds add up over a whole run: a loop inside of another one is entered again and again.
class LoopRounds {
  public:
    // Throws LimitExceeded where one more round would pass the limit, and what a cancelled run throws.
    void begin(const SessionContext& context, const std::string& name) {
        if (call_ != context.calls) rounds_ = 0;
        call_ = context.calls;
        if (rounds_ >= context.maxLoopIterations)
            fail(Status::LimitExceeded, "op '%s' (While) passed max_loop_iterations (%lld)", name.c_str(),
                 asLong(context.maxLoopIterations));
        ++rounds_;
        context.cancel.check();
    }

  private:
    uint64_t call_ = 0;
    int64_t rounds_ = 0;
};

}  // namespace mnnc
