// A run in two halves: the device computes between them.
#include "session/session.h"

namespace mnnc {

void Session::begin(const Cancellation& cancel) {
    cancel.check();
    requireReady();
    if (bindings_) bindings_->beforeRun();
    begun_.emplace(statistics_.runs);
    const ScopedFloatMode floatMode(floatMode_);
    hasRun_ = false;
    try {
        pipeline_->recording()->begin();
    } catch (...) {
        begun_.reset();
        throw;
    }
}

bool Session::end(int64_t nanoseconds) {
    const ScopedFloatMode floatMode(floatMode_);
    try {
        if (!pipeline_->recording()->end(nanoseconds)) return false;
        hasRun_ = true;
        if (bindings_) bindings_->afterRun();
        begun_->finish();
    } catch (...) {
        begun_.reset();
        throw;
    }
    begun_.reset();
    return true;
}

}  // namespace mnnc
