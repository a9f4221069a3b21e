// mnn_interpreter_release_model().
#include "c_api/guard.h"

using namespace mnnc;

namespace {

// The bytes need not be kept for a number that a later call may ask for: if it cannot be counted, that call fails.
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
