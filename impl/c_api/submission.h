// A submitted run of a session, from mnn_session_submit() to the mnn_session_wait() that returns its status. The
// session is pinned and in use alone meanwhile, so that every other call is refused as busy.
#pragma once
#include <condition_variable>
#include <mutex>
#include <optional>

#include "backend/run_queue.h"
#include "c_api/guard.h"

namespace mnnc {

class Submission final : private RunQueue::Job {
  public:
    Submission();
    // Begins a run of a session that the call has alone, and leaves the session to the run. Throws the reason when the
    // run cannot begin.
    void submit(SessionUse& session, const mnn_run_options_t& options);
    // Waits for the run, for at most this many nanoseconds unless below 0, and returns its status; its sentence becomes
    // that of this thread. Throws BadState where no run was submitted, Busy, and Timeout, in which case the run
    // continues.
    mnn_status wait(const SessionUse& session, int64_t nanoseconds);
    // Whether a run was submitted whose status no call has returned yet.
    bool pending() const noexcept { return state_.load(std::memory_order_relaxed) != None; }

  private:
    enum State : int { None, Submitted, Waiting };  // Waiting: a call waits for the run

    void begin(const mnn_run_options_t& options);
    void run() noexcept override;
    void awaitThread(int64_t nanoseconds);
    bool awaitDevice(int64_t nanoseconds) noexcept;

    std::atomic<State> state_{None};
    SessionObject* session_ = nullptr;
    uint64_t handle_ = 0;
    mnn_run_options_t options_{};
    std::optional<CancelUse> cancel_;
    Cancellation cancellation_;
    bool onDevice_ = false;      // the run has begun on the device and must be ended
    RunQueue* queue_ = nullptr;  // the queue's thread runs or ends the run; null: wait() ends it
    int process_ = 0;            // the process with that thread

    // For runs that a thread ends.
    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<bool> ended_{false};
    mnn_status status_ = MNN_OK;
    char sentence_[kErrorBytes] = "";
};

}  // namespace mnnc
