// Calls the host's reader in the floating-point mode that the host's code expects.
#include "c_api/weight_reader.h"

#include "base/float_mode.h"
#include "c_api/guard.h"

namespace mnnc {

void WeightReader::read(size_t offset, void* out, size_t bytes) const {
    mnn_status status = MNN_OK;
    {
        const ScopedFloatMode mode(FloatMode::computing(true));
        status = reader_(user_->data, offset, out, bytes);
    }
    if (status == MNN_OK) return;
    if (!isStatus(status))
        fail(Status::InvalidValue,
             "options.external_weight_reader returned %d for %zu bytes at %zu, which is no status", status, bytes,
             offset);
    fail(static_cast<Status>(status), "options.external_weight_reader returned %s for %zu bytes at %zu",
         mnn_status_name(status), bytes, offset);
}

}  // namespace mnnc
