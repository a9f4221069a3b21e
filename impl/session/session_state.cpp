// The functions of a session for the state that its operators keep.
#include "session/model_cache.h"
#include "session/session.h"

namespace mnnc {

void Session::requireKept() const {
    if (keepers() > 0 && kept().operators() == 0)
        fail(Status::BadState, "the session has to be resized first: no plan has determined yet which states it keeps");
}

void Session::reserveKept(int64_t length) {
    requireKept();
    kept().reserve(length);
    try {
        paths_[0].pipeline().growInputs();
    } catch (...) {
        needsResize_ = !prepared();
        throw;
    }
    if (bindings_ && !needsResize_) bindings_->memoryMoved();
}

uint64_t Session::keptNet() const {
    return modelCacheKey(interpreter_->model(), {});
}

}  // namespace mnnc
