// Counts and judges the statuses of calls by many threads.
#pragma once
#include <mnn_c.h>

#include <atomic>
#include <string>

namespace stress {

extern std::atomic<bool> failed;
extern std::atomic<long> calls, busy, cancelled, checked;

void complain(const std::string& text);
// Reports a status that a call may not return at any moment.
mnn_status seen(mnn_status status, const char* call);
#define SEEN(call) ::stress::seen((call), #call)
// Reports a status other than MNN_OK.
void must(mnn_status status, const char* call);
#define MUST(call) ::stress::must((call), #call)

}  // namespace stress
