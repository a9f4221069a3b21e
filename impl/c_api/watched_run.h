// A run with the callbacks of its options.
#pragma once
#include "c_api/handles.h"

namespace mnnc {

// Runs a session that the caller has alone, and returns the status of the run; its sentence becomes that of this
// thread.
mnn_status runToEnd(SessionObject& session, uint64_t handle, const mnn_run_options_t& options,
                    const Cancellation& cancel) noexcept;

// Calls options.done for a run that ended on this thread; the thread's sentence does not change.
void reportEnd(SessionObject& session, const mnn_run_options_t& options, mnn_status status) noexcept;

}  // namespace mnnc
