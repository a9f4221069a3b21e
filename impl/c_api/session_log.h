// What a session writes to the log of its interpreter.
#pragma once
#include "base/stopwatch.h"
#include "c_api/guard.h"

namespace mnnc {

// Where the session runs and why not elsewhere, and its cost. cacheBytes: size of the cache that it was given.
void logCreated(const SessionObject& session, const Stopwatch& watch, size_t cacheBytes);
// Operators that the wanted backend did not take, one line each, when a plan was made.
void logPlan(const SessionObject& session, const Stopwatch& watch);

}  // namespace mnnc
