// The thread of submitted runs: it takes jobs from a list, sleeps while there is none, and ends with its queue.
#include "backend/run_queue.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/float_mode.h"
#include "base/os/threads.h"

namespace mnnc {

struct RunQueue::State {
    std::mutex mutex;
    std::condition_variable changed;
    Job *first = nullptr, *last = nullptr;  // waiting
    bool stopped = false;
    std::thread thread;
    std::atomic<int> process{0};  // process that has the thread; 0: there is no thread

    bool inherited() const noexcept {
        const int owner = process.load(std::memory_order_acquire);
        return owner != 0 && owner != os::processNumber();
    }

    void main() {
        // The new thread has inherited the mode of the thread that happened to submit first.
        FloatMode::computing(true).apply();
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait(lock, [this] { return first || stopped; });
            if (!first) return;
            Job& job = *first;
            first = job.next_;
            lock.unlock();
            job.run();
            lock.lock();
        }
    }
};

RunQueue::RunQueue() : state_(std::make_unique<State>()) {}

RunQueue::~RunQueue() {
    if (state_->inherited()) {
        // A forked child does not have this thread, and the identifier may name a thread of its own by now. So nothing
        // can be stopped, joined or detached, and the state is leaked.
        state_.release();  // NOLINT(bugprone-unused-return-value)
        return;
    }
    if (!state_->thread.joinable()) return;
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopped = true;
        state_->changed.notify_one();
    }
    state_->thread.join();
}

void RunQueue::start() {
    if (state_->inherited())
        fail(Status::BadState,
             "the thread for submitted runs belongs to the process that forked this one; mnn_session_run() "
             "computes here");
    std::unique_lock lock(state_->mutex);
    if (state_->thread.joinable()) return;
    waitOnceInVain(state_->changed, lock);
    if (state_->thread.joinable()) return;  // another thread has started it during the wait
    const os::SignalsBlocked guard;
    try {
        state_->thread = std::thread([state = state_.get()] { state->main(); });
    } catch (const std::system_error&) {
        fail(Status::OutOfMemory, "the system makes no thread for submitted runs");
    }
    state_->process.store(os::processNumber(), std::memory_order_release);
}

bool RunQueue::isThisThread() const noexcept {
    return state_->thread.get_id() == std::this_thread::get_id();
}

void RunQueue::push(Job& job) noexcept {
    job.next_ = nullptr;
    const std::lock_guard lock(state_->mutex);
    if (state_->first)
        state_->last->next_ = &job;
    else
        state_->first = &job;
    state_->last = &job;
    state_->changed.notify_one();
}

}  // namespace mnnc
