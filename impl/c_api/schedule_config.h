// The configuration of a session, read from the caller's struct.
#pragma once
#include "c_api/guard.h"
#include "session/session.h"

namespace mnnc {

// The size of the struct's first version; it stays when the struct grows.
inline constexpr size_t kConfigSize = offsetof(mnn_schedule_config_t, tuning_operators);

// Reads all fields but the cancel token. Throws the fault of a field.
SessionConfig readConfig(const mnn_schedule_config_t& config);

}  // namespace mnnc
