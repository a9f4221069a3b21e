// The host's objects: an operator, and a backend in a runtime. Prepared states are freed.
#pragma once
#include <cstdlib>
#include <cstring>

#include "net.h"

namespace faults {

inline mnn_status prepareByte(void*, mnn_operator_call_t* call) {
    call->state = std::malloc(1);
    return call->state ? MNN_OK : MNN_ERROR_OUT_OF_MEMORY;
}
inline void freeByte(void*, void* state) {
    std::free(state);
}
inline void countUp(void* count) {
    ++*static_cast<int*>(count);
}

// The operator, for nets that have a node of it.
struct Own {
    int finalized = 0;
    mnn_status add(mnn_interpreter_t* net) {
        mnn_operator_t op;
        MUST(mnn_operator_init(&op, sizeof op));
        op.name = "SoftShrink";
        op.prepare = prepareByte;
        op.compute = [](void*, mnn_operator_call_t* call) -> mnn_status {
            std::memcpy(call->outputs[0]->data, call->inputs[0]->data, call->inputs[0]->bytes);
            return MNN_OK;
        };
        op.release = freeByte;
        op.user_data = &finalized;
        op.finalizer = countUp;
        return mnn_interpreter_add_operator(net, &op);
    }
};

// A backend that takes every node, and writes zeros.
struct OwnBackend {
    mnn_runtime_t* runtime = nullptr;
    int32_t forwardType = MNN_FORWARD_CPU;
    int finalized = 0;
    mnn_status add() {
        mnn_backend_t backend;
        MUST(mnn_backend_init(&backend, sizeof backend));
        backend.name = "own";
        backend.supports = [](void*, mnn_operator_call_t*) -> mnn_status { return MNN_OK; };
        backend.prepare = prepareByte;
        backend.compute = [](void*, mnn_operator_call_t* call) -> mnn_status {
            for (size_t i = 0; i < call->output_count; ++i)
                std::memset(call->outputs[i]->data, 0, call->outputs[i]->bytes);
            return MNN_OK;
        };
        backend.release = freeByte;
        backend.user_data = &finalized;
        backend.finalizer = countUp;
        return mnn_runtime_add_backend(runtime, &backend, &forwardType);
    }
};

}  // namespace faults
