// The threads of a runtime, from which every session gets a pool of its own: workers of the library, or threads of the
// host behind a parallel-for function.
#pragma once
#include <memory>

#include "backend/thread_pool.h"

namespace mnnc {

class SharedThreads {
  public:
    virtual ~SharedThreads() = default;
    // The caller's of a run included. At least 1.
    virtual int threads() const noexcept = 0;
    // A pool over at most so many of them, for one session. A run that finds the workers at work for another session
    // computes the same tasks on its caller's thread: the same bits, in the same scratch memory.
    virtual std::unique_ptr<ThreadPool> pool(int atMost) = 0;
};
using SharedThreadsPtr = std::shared_ptr<SharedThreads>;

// n - 1 workers. `cores`: see ForkJoinPool::place().
SharedThreadsPtr makeWorkers(int threads, const std::vector<int>& cores);

// Calls task(context, i) for each i below count, on any threads, and returns when all calls have returned.
using ParallelFor = void (*)(void* user, void (*task)(void* context, int32_t index), void* context, int32_t count);

// `owner` lives as long as `user` is used. threads: how many of the host's a call may use at once.
SharedThreadsPtr makeHostThreads(ParallelFor parallelFor, void* user, std::shared_ptr<void> owner, int threads);

}  // namespace mnnc
