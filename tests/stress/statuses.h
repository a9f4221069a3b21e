// What calls of many threads at once may give, counted.
#pragma once
#include <mnn_c.h>

#include <atomic>
#include <string>

namespace stress {

extern std::atomic<bool> failed;
extern std::atomic<long> calls, busy, cancelled, checked;

void complain(const std::string& text);
// Complains where the status is none that a call may give at any moment.
mnn_status seen(mnn_status status, const char* call);
#define SEEN(call) ::stress::seen((call), #call)
// Complains where the status is not MNN_OK.
void must(mnn_status status, const char* call);
#define MUST(call) ::stress::must((call), #call)

}  // namespace stress
