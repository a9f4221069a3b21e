// mnn_interpreter_release_model() and its variant that keeps weights.
#include "c_api/guard.h"

using namespace mnnc;

namespace {

// Counts the parameters, which a later call may ask for, before the bytes are released. If that fails, the release
// succeeds nevertheless, and the later call fails.
std::optional<uint64_t> parametersOf(const Interpreter& interpreter) {
    try {
        return interpreter.parameterCount();
    } catch (const Error& error) {
        if (error.status() == Status::OutOfMemory) throw;
        return std::nullopt;
    }
}

// Drops data that is of no use without the bytes of the model.
void dropBesides(InterpreterObject& net) {
    {
        const std::lock_guard lock(net.updated.mutex);
        net.updated.impl = nullptr;
    }
    const std::lock_guard lock(net.cache.mutex);
    net.cache.bytes = {};
}

// Returns whether the call has something to release, and records that it does.
bool begin(InterpreterObject& net, bool keepWeights) {
    auto& released = net.released;
    if (released.done && (keepWeights || !released.keepsWeights)) return false;
    if (!released.done) released.parameters = parametersOf(*net.impl);
    released.done = true;
    released.keepsWeights = keepWeights;
    return true;
}

void releaseAll(InterpreterObject& net) {
    {
        const std::lock_guard lock(net.released.mutex);
        if (!begin(net, false)) return;
    }
    dropBesides(net);
    net.impl->model().release();
}

void releaseButWeights(InterpreterObject& net) {
    KeptSources kept = net.impl->model().keptWeights();  // the replaced sources are destroyed without the lock
    {
        const std::lock_guard lock(net.released.mutex);
        if (!begin(net, true)) return;
        net.impl->model().release(kept);
    }
    dropBesides(net);
}

}  // namespace

mnn_status mnn_interpreter_release_model(mnn_interpreter_t* interpreter) {
    return guard([&] { releaseAll(*InterpreterUse(interpreter)); });
}

mnn_status mnn_interpreter_release_model_keeping(mnn_interpreter_t* interpreter, int32_t keep) {
    return guard([&] {
        const InterpreterUse net(interpreter);
        if (keep != MNN_KEEP_NOTHING && keep != MNN_KEEP_WEIGHTS)
            fail(Status::InvalidValue, "keep is %d, it is none of MNN_KEEP_*", keep);
        keep == MNN_KEEP_WEIGHTS ? releaseButWeights(*net) : releaseAll(*net);
    });
}
