// The messages of a session to the log of its interpreter.
#pragma once
#include "base/stopwatch.h"
#include "c_api/guard.h"

namespace mnnc {

// Reports the backend of each path, the reason if it is not the wanted one, and the cost of the creation. cacheBytes:
// size of the cache that was offered.
void logCreated(const SessionObject& session, const Stopwatch& watch, size_t cacheBytes);
// Reports the time of the last plan, and the operators that the wanted backend did not take, one line each. Called when
// a creation or a resize has made a plan.
void logPlan(SessionObject& session);

// Observes one run: if it makes plans, the log gets a message at its end, with new lines about operators. Does nothing,
// not even count plans, unless the log takes messages of that level.
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
