// Conditions that the binding functions put on tensors.
#pragma once
#include "c_api/guard.h"

namespace mnnc {

// The index of a tensor that is an input (or output) of this session and not mapped.
inline size_t bindable(const SessionUse& session, const mnn_tensor_t* tensor, bool isInput) {
    if (!tensor) fail(Status::NullArgument, "argument 'tensor' is NULL");
    HandleEntry entry;
    if (handles::peek(valueOf(tensor), entry) != handles::Found::Yes || entry.kind != HandleKind::Tensor ||
        entry.payload != session.handle() || (entry.flags & (kTensorObserved | kTensorConstant)) ||
        ((entry.flags & kTensorInput) != 0) != isInput)
        fail(Status::BadHandle, "argument 'tensor' is not an %s of this session", isInput ? "input" : "output");
    const SessionTensor& known = (isInput ? session->inputs : session->outputs)[entry.index];
    if (known.mapping.access && known.mapping.plan == session->impl->plans())
        fail(Status::BadState, "tensor '%s' is mapped", known.name.c_str());
    return entry.index;
}

}  // namespace mnnc
