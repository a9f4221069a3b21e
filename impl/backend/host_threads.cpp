// Threads of the host, behind its parallel-for function.
//
// The host need not count correctly: a call of a task takes the next pieces of work that are left, whichever index it
// has, and the thread that runs the session computes the pieces that the host left out. So each piece is computed once,
// even if the host skips an index, repeats one, returns early or calls a task late; the session waits only for pieces
// that were begun.
#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/shared_threads.h"
#include "base/os/threads.h"

namespace mnnc {

namespace {

// The work of one session at a time. It outlives the session: a late call finds nothing to do.
class alignas(64) HostJob {
  public:
    void begin(int tasks, ThreadPool::Task task, void* ctx) {
        task_ = task;
        ctx_ = ctx;
        count_ = tasks;
        mode_ = FloatMode::current().control();
        done_.store(0, std::memory_order_relaxed);
        ++generation_;
        left_.store(uint64_t{generation_} << 32 | static_cast<uint32_t>(tasks), std::memory_order_release);
    }

    // Computes pieces until none is left. It runs on a thread of the host and restores that thread's floating-point
    // mode.
    static void help(void* job, int32_t) { static_cast<HostJob*>(job)->help(); }
    void help() noexcept {
        uint32_t piece = 0;
        if (!claim(piece)) return;
        const ScopedFloatMode mode(mode_);
        int finished = 0;
        do {
            task_(ctx_, count_ - static_cast<int>(piece));
            ++finished;
        } while (claim(piece));
        done_.fetch_add(finished, std::memory_order_acq_rel);
    }

    // Waits for pieces that other threads have begun.
    void finish(int tasks) const noexcept {
        while (done_.load(std::memory_order_acquire) != tasks) std::this_thread::yield();
    }

  private:
    // The job cannot end before a claimed piece does, so its fields are stable for the thread that claimed one.
    bool claim(uint32_t& piece) noexcept {
        uint64_t seen = left_.load(std::memory_order_acquire);
        do {
            piece = static_cast<uint32_t>(seen);
            if (piece == 0) return false;
        } while (!left_.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel, std::memory_order_acquire));
        return true;
    }

    ThreadPool::Task task_ = nullptr;
    void* ctx_ = nullptr;
    int count_ = 0;
    uint32_t generation_ = 0;
    FloatMode mode_ = FloatMode::computing(true);
    alignas(64) std::atomic<uint64_t> left_{0};  // generation and number of unclaimed pieces
    alignas(64) std::atomic<int> done_{0};
};

class HostThreads final : public SharedThreads, public std::enable_shared_from_this<HostThreads> {
  public:
    HostThreads(ParallelFor parallelFor, void* user, std::shared_ptr<void> owner, int threads)
        : owner_(std::move(owner)), parallelFor_(parallelFor), user_(user), threads_(threads) {}
    int threads() const noexcept override { return threads_; }
    std::unique_ptr<ThreadPool> pool(int maxThreads) override;

    void call(HostJob& job, int count) const { parallelFor_(user_, HostJob::help, &job, count); }

    HostJob& takeJob() {
        const std::lock_guard lock(mutex_);
        if (free_.empty()) {
            free_.reserve(jobs_.size() + 1);  // so that returning a job cannot fail
            return jobs_.emplace_back();
        }
        HostJob& job = *free_.back();
        free_.pop_back();
        return job;
    }
    void giveBack(HostJob& job) noexcept {
        const std::lock_guard lock(mutex_);
        free_.push_back(&job);
    }

  private:
    const std::shared_ptr<void> owner_;
    const ParallelFor parallelFor_;
    void* const user_;
    const int threads_;
    std::mutex mutex_;
    std::deque<HostJob> jobs_;
    std::vector<HostJob*> free_;
};

class HostPool final : public ThreadPool {
  public:
    HostPool(std::shared_ptr<HostThreads> host, int threads)
        : host_(std::move(host)), threads_(threads), process_(os::processNumber()), job_(host_->takeJob()) {}
    ~HostPool() override { host_->giveBack(job_); }
    int threads() const override { return threads_; }

    void run(int tasks, Task task, void* ctx) override {
        // A forked child does not have the threads of its parent.
        if (tasks <= 1 || (!leased_ && os::processNumber() != process_) || alone_) {
            for (int i = 0; i < tasks; ++i) task(ctx, i);
            return;
        }
        job_.begin(tasks, task, ctx);
        {
            const ScopedFloatMode mode(leased_ ? hostMode_ : FloatMode::computing(true));
            host_->call(job_, std::min(tasks, threads_));
        }
        job_.help();
        job_.finish(tasks);
    }
    ThreadPool& beginRun() override {
        hostMode_ = FloatMode::current();
        alone_ = os::processNumber() != process_;
        leased_ = true;
        return *this;
    }
    void endRun() override { leased_ = alone_ = false; }

  private:
    const std::shared_ptr<HostThreads> host_;
    const int threads_;
    const int process_;
    HostJob& job_;
    bool leased_ = false, alone_ = false;
    FloatMode hostMode_ = FloatMode::computing(true);  // mode of the thread that called run()
};

std::unique_ptr<ThreadPool> HostThreads::pool(int maxThreads) {
    const int taken = std::clamp(maxThreads, 1, threads_);
    if (taken == 1) return std::make_unique<InlinePool>();
    return std::make_unique<HostPool>(shared_from_this(), taken);
}

}  // namespace

SharedThreadsPtr makeHostThreads(ParallelFor parallelFor, void* user, std::shared_ptr<void> owner, int threads) {
    return std::make_shared<HostThreads>(parallelFor, user, std::move(owner), threads);
}

}  // namespace mnnc
