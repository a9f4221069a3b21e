// One thread, made when it is needed first, that runs jobs in the order in which they came: the submitted runs of the
// sessions of a runtime.
#pragma once
#include <memory>

namespace mnnc {

class RunQueue {
  public:
    // Belongs to the one who pushes it, until run() has said that it is over; it is not looked at afterwards.
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
    // Joins the thread. No job is waiting or running.
    ~RunQueue();
    RunQueue(const RunQueue&) = delete;
    RunQueue& operator=(const RunQueue&) = delete;

    // Makes the thread unless it is there. Throws OutOfMemory when the system makes none, BadState in a child of
    // fork(), which has not inherited it.
    void start();
    // After start(). Does not allocate.
    void push(Job& job) noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace mnnc
