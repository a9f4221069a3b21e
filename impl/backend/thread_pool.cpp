#include "backend/thread_pool.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace mnnc {
namespace {

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Short waits burn cycles, longer ones give the CPU away: the thread waited for may need this very CPU.
class Spinner {
  public:
    void wait() {
        if (++rounds_ % 256 != 0) {
            relax();
        } else {
            std::this_thread::yield();
        }
    }

  private:
    unsigned rounds_ = 0;
};

}  // namespace

struct ForkJoinPool::State {
    // What a lease holder gets: runs on the workers. Its endRun gives the lease back.
    class Lease final : public ThreadPool {
      public:
        explicit Lease(State& state) : state_(state) {}
        int threads() const override { return state_.threads(); }
        void run(int tasks, Task task, void* ctx) override { state_.run(tasks, task, ctx); }
        void endRun() override { state_.release(); }

      private:
        State& state_;
    };

    State() : lease(*this) {}

    int threads() const { return static_cast<int>(workers.size()) + 1; }

    bool acquire() {
        if (leased.exchange(true, std::memory_order_acquire)) return false;
        {
            std::lock_guard lock(mutex);
            awake.store(true, std::memory_order_relaxed);
        }
        wake.notify_all();
        return true;
    }

    void release() {
        awake.store(false, std::memory_order_relaxed);
        leased.store(false, std::memory_order_release);
    }

    // A job is (generation, tasks not yet claimed) in one word. A worker that claims a task knows the job
    // cannot end before that task does, so task, ctx and count are stable from the claim on; a worker that
    // comes late claims nothing and nobody waits for it.
    void run(int tasks, Task task, void* ctx) {
        if (tasks <= 0) return;
        if (tasks == 1 || workers.empty()) {
            for (int i = 0; i < tasks; ++i) task(ctx, i);
            return;
        }
        job.task = task;
        job.ctx = ctx;
        job.count = tasks;
        done.store(0, std::memory_order_relaxed);
        ++generation;
        ticket.store(uint64_t{generation} << 32 | static_cast<uint32_t>(tasks), std::memory_order_release);
        work();
        Spinner spinner;
        while (done.load(std::memory_order_acquire) != tasks) spinner.wait();
    }

    // Claims and runs tasks until none is left; says whether there was one.
    bool work() {
        bool any = false;
        uint64_t seen = ticket.load(std::memory_order_acquire);
        while (static_cast<uint32_t>(seen) != 0) {
            if (!ticket.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel,
                                              std::memory_order_acquire)) {
                continue;
            }
            any = true;
            job.task(job.ctx, job.count - static_cast<int>(static_cast<uint32_t>(seen)));
            done.fetch_add(1, std::memory_order_acq_rel);
            seen = ticket.load(std::memory_order_acquire);
        }
        return any;
    }

    void workerMain() {
        for (;;) {
            {
                std::unique_lock lock(mutex);
                wake.wait(lock, [&] { return stop || awake.load(std::memory_order_relaxed); });
                if (stop) return;
            }
            Spinner spinner;
            while (awake.load(std::memory_order_relaxed)) {
                if (!work()) spinner.wait();
            }
        }
    }

    struct Job {
        Task task = nullptr;
        void* ctx = nullptr;
        int count = 0;
    };

    std::vector<std::thread> workers;
    std::mutex mutex;
    std::condition_variable wake;
    bool stop = false;
    Job job;
    uint32_t generation = 0;
    alignas(64) std::atomic<bool> leased{false};
    alignas(64) std::atomic<bool> awake{false};
    alignas(64) std::atomic<uint64_t> ticket{0};
    alignas(64) std::atomic<int> done{0};
    Lease lease;
    InlinePool inlinePool;
};

ForkJoinPool::ForkJoinPool(int threads) : state_(std::make_unique<State>()) {
    State* state = state_.get();
    state->workers.reserve(threads > 1 ? threads - 1 : 0);
    for (int i = 1; i < threads; ++i) {
        try {
            state->workers.emplace_back([state] { state->workerMain(); });
        } catch (...) {
            break;  // the system has no more threads for us: work with those we have
        }
    }
}

ForkJoinPool::~ForkJoinPool() {
    {
        std::lock_guard lock(state_->mutex);
        state_->stop = true;
    }
    state_->wake.notify_all();
    for (std::thread& worker : state_->workers) worker.join();
}

int ForkJoinPool::threads() const {
    return state_->threads();
}

void ForkJoinPool::run(int tasks, Task task, void* ctx) {
    ThreadPool& pool = beginRun();
    pool.run(tasks, task, ctx);
    pool.endRun();
}

ThreadPool& ForkJoinPool::beginRun() {
    if (!state_->workers.empty() && state_->acquire()) return state_->lease;
    return state_->inlinePool;
}

}  // namespace mnnc
