// The threads that run the pieces of a kernel.
//
// Tasks compute in the floating-point mode (base/float_mode.h) of the thread that calls run(). A session brackets one
// inference with beginRun() and endRun() (RunLease does it): beginRun() returns the pool for the time in between. No
// function here makes one session wait for another.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/float_mode.h"

namespace mnnc {

class ThreadPool {
  public:
    using Task = void (*)(void* ctx, int index);

    virtual ~ThreadPool() = default;
    // How many threads run() may use, including the caller's. At least 1.
    virtual int threads() const = 0;
    // Calls task(ctx, i) for every i in [0, tasks), each once, in any order and on any of the threads; returns when all
    // calls have returned. Tasks must not throw and must not call run().
    virtual void run(int tasks, Task task, void* ctx) = 0;
    // Wakes the workers for a sequence of runs. The returned pool is valid until its endRun(): this one, or a
    // one-thread pool when another session holds this one's workers.
    virtual ThreadPool& beginRun() { return *this; }
    virtual void endRun() {}
};

// Runs all tasks on the calling thread.
class InlinePool final : public ThreadPool {
  public:
    int threads() const override { return 1; }
    void run(int tasks, Task task, void* ctx) override {
        for (int i = 0; i < tasks; ++i) task(ctx, i);
    }
};

// Threads of the library: asleep outside a lease, spinning (and yielding) inside one. There are fewer threads than
// requested when the system refuses to make them. The destructor joins them; no lease may be held then.
class ForkJoinPool final : public ThreadPool {
  public:
    explicit ForkJoinPool(int threads);
    // Binds the workers to these cores, but not the caller's thread. Throws InvalidValue for a core that no worker may
    // use.
    void place(const std::vector<int>& cores);
    ~ForkJoinPool() override;
    ForkJoinPool(const ForkJoinPool&) = delete;
    ForkJoinPool& operator=(const ForkJoinPool&) = delete;

    int threads() const override;
    // Outside a lease: takes one for the duration of this call, or runs on the calling thread.
    void run(int tasks, Task task, void* ctx) override;
    // First come, first served: a caller that finds the workers leased gets a one-thread pool.
    ThreadPool& beginRun() override;
    // Like beginRun(), with at most this many of the threads; null when the workers are leased.
    ThreadPool* lease(int threads);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// Holds a lease for one scope.
class RunLease {
  public:
    explicit RunLease(ThreadPool& pool) : pool_(pool.beginRun()) {}
    ~RunLease() { pool_.endRun(); }
    RunLease(const RunLease&) = delete;
    RunLease& operator=(const RunLease&) = delete;
    ThreadPool& pool() const { return pool_; }

  private:
    ThreadPool& pool_;
};

// Carries the first exception of a job's tasks to the thread that waits for the job.
class TaskFailure {
  public:
    void keep() noexcept {  // called in an exception handler
        if (!taken_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
    }
    // Called when all tasks are done.
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

  private:
    std::atomic<bool> taken_{false};
    std::exception_ptr error_;
};

// Calls body(i) for i in [0, n). No allocation: the callable stays on the caller's stack. When all tasks have ended, it
// throws the first exception of a task.
template <typename Body>
inline void parallelFor(ThreadPool& pool, int n, Body&& body) {
    if (n <= 0) return;
    if (n == 1 || pool.threads() == 1) {
        for (int i = 0; i < n; ++i) body(i);
        return;
    }
    struct Job {
        std::remove_reference_t<Body>& body;
        TaskFailure failure;
    } job{body, {}};
    pool.run(
        n,
        [](void* ctx, int i) {
            auto& shared = *static_cast<Job*>(ctx);
            try {
                shared.body(i);
            } catch (...) {
                shared.failure.keep();
            }
        },
        &job);
    job.failure.rethrow();
}

// Calls body(slot, i) for i in [0, n). Calls with the same slot, which is below the number of threads, do not overlap.
// A slot begins with its own part of [0, n) and then helps the others.
template <typename Body>
inline void parallelSlots(ThreadPool& pool, int n, Body&& body) {
    struct alignas(64) Part {
        std::atomic<int> next;
        int end;
    };
    constexpr int kMaxSlots = 64;
    const int slots = std::min({pool.threads(), n, kMaxSlots});
    Part parts[kMaxSlots];
    for (int s = 0; s < slots; ++s) {
        parts[s].next.store(static_cast<int>(int64_t{n} * s / slots), std::memory_order_relaxed);
        parts[s].end = static_cast<int>(int64_t{n} * (s + 1) / slots);
    }
    parallelFor(pool, slots, [&](int slot) {
        for (int s = 0; s < slots; ++s) {
            Part& part = parts[(slot + s) % slots];
            for (int i; (i = part.next.fetch_add(1, std::memory_order_relaxed)) < part.end;) body(slot, i);
        }
    });
}

// Calls body(begin, end) over [0, n), which is cut into about `pieces` equal ranges.
template <typename Body>
inline void parallelRanges(ThreadPool& pool, int64_t n, int pieces, Body&& body) {
    if (n <= 0) return;
    if (pieces > n) pieces = static_cast<int>(n);
    if (pieces <= 1 || pool.threads() == 1) {
        body(int64_t{0}, n);
        return;
    }
    parallelFor(pool, pieces, [&](int i) { body(n * i / pieces, n * (i + 1) / pieces); });
}

}  // namespace mnnc
