// mnn_cancel_*: tokens that end calls. A token consists only of its slot in the table of handles, so that triggering
// one is safe in a signal handler.
#include "c_api/guard.h"

using namespace mnnc;

mnn_status mnn_cancel_create(mnn_cancel_t** out) {
    return guard([&] {
        required(out, "out");
        *out = handleOf<mnn_cancel_t>(handles::create({HandleKind::Cancel}));
    });
}

// Without guard(), which would set the thread's error sentence.
mnn_status mnn_cancel_trigger(mnn_cancel_t* cancel) {
    if (!cancel) return MNN_ERROR_NULL_ARGUMENT;
    const uint64_t handle = valueOf(cancel);
    if (!handles::pinCancel(handle)) return MNN_ERROR_BAD_HANDLE;
    Cancellation::trigger(handles::cancelState(handle));
    handles::unpin(handle);
    return MNN_OK;
}

mnn_status mnn_cancel_reset(mnn_cancel_t* cancel) {
    return guard([&] {
        if (!cancel) fail(Status::NullArgument, "argument 'cancel' is NULL");
        CancelUse(cancel).reset();
    });
}

mnn_status mnn_cancel_destroy(mnn_cancel_t** cancel) {
    return guard([&] {
        if (!cancel || !*cancel) return;
        if (!CancelUse(*cancel).destroy()) fail(Status::BadHandle, "argument 'cancel' is a destroyed handle");
        *cancel = nullptr;
    });
}
