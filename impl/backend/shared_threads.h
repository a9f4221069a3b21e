// The threads of a runtime, from which every session gets a pool of its own: workers of the library, or threads of the
// host behind a parallel-for function.
#pragma once
#include <memory>

#include "backend/thread_pool.h"

namespace mnnc {

class SharedThreads {
  public:
    virtual ~SharedThreads() = default;
    // Includes the caller of a run. At least 1.
    virtual int threads() const noexcept = 0;
    // Makes a pool of at most this many threads for one session. When the workers are busy with another session, a run
    // computes the same tasks on the caller's thread: with the same bits, in the same scratch memory.
    virtual std::unique_ptr<ThreadPool> pool(int maxThreads) = 0;
};
using SharedThreadsPtr = std::shared_ptr<SharedThreads>;

// Makes n - 1 workers. `cores`: see ForkJoinPool::place().
SharedThreadsPtr makeWorkers(int threads, const std::vector<int>& cores);

// Calls task(context, i) for each i below count, on any threads, and returns when all calls have returned.
using ParallelFor = void (*)(void* user, void (*task)(void* context, int32_t index), void* context, int32_t count);

// `owner` keeps `user` alive. threads: how many threads of the host a call may use at once.
SharedThreadsPtr makeHostThreads(ParallelFor parallelFor, void* user, std::shared_ptr<void> owner, int threads);

}  // namespace mnnc
