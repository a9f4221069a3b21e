// What a session writes to the log of its interpreter.
#pragma once
#include "base/stopwatch.h"
#include "c_api/guard.h"

namespace mnnc {

// Where each path of the session runs and why not elsewhere, and its cost. cacheBytes: size of the cache that it was
// given.
void logCreated(const SessionObject& session, const Stopwatch& watch, size_t cacheBytes);
// Operators that the wanted backend did not take, one line each, when a creation or a resize made a plan.
void logPlan(SessionObject& session, const Stopwatch& watch);

// Looks at one run: where the run makes plans, this says so when it ends, and for which operators they say anything
// new. Does nothing, not even count plans, unless the log takes messages of that level.
class RunPlanLog {
  public:
    explicit RunPlanLog(SessionObject& session) noexcept;
    ~RunPlanLog();
    RunPlanLog(const RunPlanLog&) = delete;
    RunPlanLog& operator=(const RunPlanLog&) = delete;

  private:
    SessionObject& session_;
    const bool wanted_;
    const uint64_t before_;
};

}  // namespace mnnc
