// Begins submitted runs, ends them on a thread or in wait(), and passes on their status.
#include "c_api/submission.h"

#include <chrono>

#include "base/os/threads.h"
#include "c_api/watched_run.h"

namespace mnnc {

namespace {

using Nanoseconds = std::chrono::nanoseconds;

// No process lives longer than this; adding more may overflow the clock.
constexpr int64_t kMaxWait = Nanoseconds(std::chrono::hours(24 * 365)).count();

}  // namespace

Submission::Submission() {
    std::unique_lock lock(mutex_);
    waitOnceInVain(changed_, lock);
}

void Submission::submit(SessionUse& session, const mnn_run_options_t& options) {
    session_ = &*session;
    handle_ = session.handle();
    session_->impl->requireReady();
    cancel_.emplace(options.cancel);
    try {
        // begin() comes last, because nothing may fail once the run has begun.
        session.pinAgain();
        try {
            begin(options);
        } catch (...) {
            handles::unpin(handle_);
            throw;
        }
    } catch (...) {
        cancel_.reset();
        throw;
    }
    session.leaveAlone();
    RunQueue* const queue = queue_;  // from now on another thread may wait for the run, and submit the next one
    state_.store(Submitted, std::memory_order_release);
    if (queue) queue->push(*this);
}

void Submission::begin(const mnn_run_options_t& options) {
    options_ = options;
    cancellation_ = cancel_->cancellation();
    // A run with a token is submitted in parts, between which a thread checks the token.
    onDevice_ = !options.before && !options.after && !options.cancel && session_->impl->onDeviceAlone();
    queue_ = onDevice_ && !options.done ? nullptr : &session_->runQueue();
    if (queue_) queue_->start();
    process_ = os::processNumber();
    ended_.store(false, std::memory_order_relaxed);
    if (onDevice_) session_->impl->begin(cancellation_);
}

void Submission::run() noexcept {
    session_->aloneThread.store(thisThread(), std::memory_order_relaxed);
    if (onDevice_) {
        status_ = guard([&] { session_->impl->end(-1); });
        reportEnd(*session_, options_, status_);
    } else {
        status_ = runToEnd(*session_, handle_, options_, cancellation_);
    }
    session_->aloneThread.store(nullptr, std::memory_order_relaxed);
    if (status_ != MNN_OK) copyText(sentence_, sizeof sentence_, mnn_last_error());
    cancel_.reset();
    // The session may be destroyed as soon as the mutex is free.
    const std::lock_guard lock(mutex_);
    ended_.store(true, std::memory_order_release);
    changed_.notify_all();
}

mnn_status Submission::wait(const SessionUse& session, int64_t nanoseconds) {
    if (session->callbackThread.load(std::memory_order_relaxed) == thisThread())
        fail(Status::Busy, "mnn_session_wait is not possible now: %s of this session is running this callback",
             session->alone.load(std::memory_order_relaxed));
    State expected = Submitted;
    if (!state_.compare_exchange_strong(expected, Waiting, std::memory_order_acq_rel)) {
        if (expected == Waiting) fail(Status::Busy, "mnn_session_wait of this session is under way on another thread");
        fail(Status::BadState, "this session has no submitted run to wait for: mnn_session_submit() comes first");
    }
    mnn_status status = MNN_OK;
    try {
        if (queue_) {
            awaitThread(nanoseconds);
            status = status_;
            if (status != MNN_OK) setLastError(sentence_);
        } else {
            if (!awaitDevice(nanoseconds)) fail(Status::Timeout, "the submitted run is not over yet");
            status = status_;
        }
    } catch (...) {
        state_.store(Submitted, std::memory_order_release);
        throw;
    }
    state_.store(None, std::memory_order_release);
    SessionUse::takeBack(*session_, handle_);
    return status;
}

void Submission::awaitThread(int64_t nanoseconds) {
    const auto ended = [this] { return ended_.load(std::memory_order_relaxed); };
    if (process_ != os::processNumber()) {
        if (ended_.load(std::memory_order_acquire)) return;
        fail(Status::BadState,
             "the run was submitted in the process that forked this one, and ends there; the session is of no "
             "use here");
    }
    if (!ended_.load(std::memory_order_acquire) && queue_->isThisThread())
        fail(Status::Busy, "mnn_session_wait is not possible now: this callback has the thread that computes the run");
    // Locks even when the run has ended, because the other thread leaves the session by releasing the mutex.
    std::unique_lock lock(mutex_);
    if (nanoseconds < 0)
        changed_.wait(lock, ended);
    else if (!changed_.wait_for(lock, Nanoseconds(std::min(nanoseconds, kMaxWait)), ended))
        fail(Status::Timeout, "the submitted run is not over yet");
}

bool Submission::awaitDevice(int64_t nanoseconds) noexcept {
    bool ended = false;
    status_ = guard([&] { ended = session_->impl->end(nanoseconds); });
    if (status_ == MNN_OK && !ended) return false;
    cancel_.reset();
    return true;
}

}  // namespace mnnc
