// A run in two halves: the device computes between them.
#include "session/session.h"

namespace mnnc {

void Session::begin(const Cancellation& cancel) {
    cancel.check();
    requireReady();
    if (bindings_) bindings_->beforeRun();
    begun_.emplace(statistics_.runs);
    hasRun_ = false;
    try {
        paths_[0].begin();
    } catch (...) {
        begun_.reset();
        throw;
    }
}

bool Session::end(int64_t nanoseconds) {
    try {
        if (!paths_[0].end(nanoseconds)) return false;
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
