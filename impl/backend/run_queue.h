// One thread, made on first use, that runs jobs in the order of their arrival: the submitted runs of the sessions of a
// runtime.
#pragma once
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace mnnc {

// Waits until a time that is already past, and so returns at once. On Windows a condition variable takes memory when a
// thread waits for it for the first time, which must not happen in a later run.
inline void waitOnceInVain(std::condition_variable& changed, std::unique_lock<std::mutex>& lock) {
    changed.wait_until(lock, std::chrono::steady_clock::time_point{});
}

class RunQueue {
  public:
    // The submitter owns the job, and must keep it until run() has reported the end; the queue does not touch it
    // afterwards.
    class Job {
      public:
        virtual void run() noexcept = 0;

      protected:
        ~Job() = default;

      private:
        friend class RunQueue;
        Job* next_ = nullptr;
    };

    RunQueue();
    // Joins the thread. No job may be waiting or running.
    ~RunQueue();
    RunQueue(const RunQueue&) = delete;
    RunQueue& operator=(const RunQueue&) = delete;

    // Makes the thread unless it exists. Throws OutOfMemory when the system makes none, and BadState in a child of
    // fork(), which does not have the thread.
    void start();
    // Callable after start(). Does not allocate.
    void push(Job& job) noexcept;
    // Callable after start(). Returns whether the caller is a job of this queue.
    bool isThisThread() const noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace mnnc
