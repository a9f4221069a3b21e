// Describes operators of a session as public structs.
#pragma once
#include "c_api/guard.h"
#include "plan/op_record.h"

namespace mnnc {

// Fills all fields of this version. The strings live as long as the record and the session.
mnn_op_info_t describe(const OpRecord& record, const Session& session);

}  // namespace mnnc
