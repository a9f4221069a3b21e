// Pools of sessions over the workers of a runtime.
#include "backend/shared_threads.h"

#include <algorithm>

namespace mnnc {

namespace {

// Splits work into as many parts as that many threads would, and computes all of it on the calling thread.
class SoloPool final : public ThreadPool {
  public:
    explicit SoloPool(int threads) : threads_(threads) {}
    int threads() const override { return threads_; }
    void run(int tasks, Task task, void* ctx) override {
        for (int i = 0; i < tasks; ++i) task(ctx, i);
    }

  private:
    const int threads_;
};

class WorkerPool final : public ThreadPool {
  public:
    WorkerPool(std::shared_ptr<ForkJoinPool> workers, int threads) : workers_(std::move(workers)), solo_(threads) {}
    int threads() const override { return solo_.threads(); }
    void run(int tasks, Task task, void* ctx) override {
        const RunLease lease(*this);
        lease.pool().run(tasks, task, ctx);
    }
    ThreadPool& beginRun() override {
        ThreadPool* const leased = workers_->lease(threads());
        return leased ? *leased : solo_;
    }

  private:
    const std::shared_ptr<ForkJoinPool> workers_;
    SoloPool solo_;
};

class Workers final : public SharedThreads {
  public:
    Workers(int threads, const std::vector<int>& cores) : pool_(std::make_shared<ForkJoinPool>(threads)) {
        pool_->place(cores);
    }
    int threads() const noexcept override { return pool_->threads(); }
    std::unique_ptr<ThreadPool> pool(int maxThreads) override {
        const int taken = std::clamp(maxThreads, 1, threads());
        if (taken == 1) return std::make_unique<InlinePool>();
        return std::make_unique<WorkerPool>(pool_, taken);
    }

  private:
    const std::shared_ptr<ForkJoinPool> pool_;
};

}  // namespace

SharedThreadsPtr makeWorkers(int threads, const std::vector<int>& cores) {
    return std::make_shared<Workers>(threads, cores);
}

}  // namespace mnnc
