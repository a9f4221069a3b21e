// One thread, made on first use, that runs jobs in the order of their arrival: the submitted runs of the sessions of a
// runtime.
#pragma once
#include <memory>

namespace mnnc {

class RunQueue {
  public:
    // The submitter owns it, but must keep it until run() has reported that it is over; the queue does not touch it
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

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace mnnc
