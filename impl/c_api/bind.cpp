// mnn_session_bind_*: inputs and outputs in memory of the caller.
#include "c_api/bindable.h"

using namespace mnnc;

namespace {

int64_t signedSize(size_t bytes) {
    if (bytes > static_cast<size_t>(INT64_MAX))
        fail(Status::InvalidValue, "bytes is %zu, no memory is that large", bytes);
    return static_cast<int64_t>(bytes);
}

}  // namespace

mnn_status mnn_session_bind_input(mnn_session_t* session, mnn_tensor_t* tensor, const void* data, size_t bytes,
                                  int32_t format) {
    return guard([&] {
        const SessionUse handle(session, Access::Alone, "mnn_session_bind_input");
        const size_t index = bindable(handle, tensor, true);
        handle->impl->bindInput(index, data, signedSize(bytes), readFormat(format));
    });
}

mnn_status mnn_session_bind_output(mnn_session_t* session, mnn_tensor_t* tensor, void* data, size_t bytes,
                                   int32_t format) {
    return guard([&] {
        const SessionUse handle(session, Access::Alone, "mnn_session_bind_output");
        const size_t index = bindable(handle, tensor, false);
        handle->impl->bindOutput(index, data, signedSize(bytes), readFormat(format));
    });
}
