// mnn_session_bind_*: inputs and outputs in memory of the caller.
#include "c_api/guard.h"

using namespace mnnc;

namespace {

// The index of a tensor that is an input (or output) of this session and not mapped.
size_t bindable(const SessionUse& session, const mnn_tensor_t* tensor, bool isInput) {
    if (!tensor) fail(Status::NullArgument, "argument 'tensor' is NULL");
    HandleEntry entry;
    if (handles::peek(valueOf(tensor), entry) != handles::Found::Yes || entry.kind != HandleKind::Tensor ||
        entry.payload != session.handle() || (entry.flags & (kTensorObserved | kTensorConstant)) ||
        ((entry.flags & kTensorInput) != 0) != isInput)
        fail(Status::BadHandle, "argument 'tensor' is not an %s of this session",
             isInput ? "input" : "output");
    const SessionTensor& known = (isInput ? session->inputs : session->outputs)[entry.index];
    if (known.mapping.access && known.mapping.plan == session->impl->plans())
        fail(Status::BadState, "tensor '%s' is mapped", known.name.c_str());
    return entry.index;
}

int64_t signedSize(size_t bytes) {
    if (bytes > static_cast<size_t>(INT64_MAX))
        fail(Status::InvalidValue, "bytes is %zu, no memory is that large", bytes);
    return static_cast<int64_t>(bytes);
}

}  // namespace

mnn_status mnn_session_bind_input(mnn_session_t* session, mnn_tensor_t* tensor, const void* data,
                                  size_t bytes, int32_t format) {
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
