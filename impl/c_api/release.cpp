// mnn_interpreter_release_model().
#include "c_api/guard.h"

using namespace mnnc;

namespace {

// A number that is needed later is no reason to keep the bytes: where it cannot be had, asking for it fails.
std::optional<uint64_t> parametersOf(const Interpreter& interpreter) {
    try {
        return interpreter.parameterCount();
    } catch (const Error& error) {
        if (error.status() == Status::OutOfMemory) throw;
        return std::nullopt;
    }
}

}  // namespace

mnn_status mnn_interpreter_release_model(mnn_interpreter_t* interpreter) {
    return guard([&] {
        const InterpreterUse net(interpreter);
        {
            const std::lock_guard lock(net->released.mutex);
            if (net->released.done) return;
            net->released.parameters = parametersOf(*net->impl);
            net->released.done = true;
        }
        {
            const std::lock_guard lock(net->updated.mutex);
            net->updated.impl = nullptr;
        }
        {
            const std::lock_guard lock(net->cache.mutex);
            net->cache.bytes = {};
        }
        net->impl->model().release();
    });
}
