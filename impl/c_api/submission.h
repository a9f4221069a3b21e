// A submitted run of a session, from mnn_session_submit() to the mnn_session_wait() that gets its status. The session
// is pinned and had alone in between, so that every other call finds it busy.
#pragma once
#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <optional>

#include "backend/run_queue.h"
#include "c_api/guard.h"

namespace mnnc {

class Submission final : private RunQueue::Job {
  public:
    // Begins a run of a session that the call has alone, and leaves the session alone to it. Throws what keeps the run
    // from beginning.
    void submit(SessionUse& session, const mnn_run_options_t& options);
    // Waits for the run, at most so many nanoseconds unless that is below 0, and returns its status, with its sentence
    // as that of this thread. Throws BadState where nothing was submitted, Busy, and Timeout: then the run goes on.
    mnn_status wait(const SessionUse& session, int64_t nanoseconds);
    // Whether a run was submitted whose status was not asked for yet.
    bool pending() const noexcept { return state_.load(std::memory_order_relaxed) != None; }

  private:
    enum State : int { None, Submitted, Waiting };  // Waiting: a call waits for it

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
    bool onDevice_ = false;      // it was begun and needs to be ended
    RunQueue* queue_ = nullptr;  // whose thread runs it or ends it; null: wait() ends it
    pid_t process_ = 0;          // that has the thread

    // Of runs that a thread ends.
    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<bool> ended_{false};
    mnn_status status_ = MNN_OK;
    char sentence_[kErrorBytes] = "";
};

}  // namespace mnnc
