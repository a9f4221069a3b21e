// The fork-join pool: leases, wake-ups, work stealing, sleep.
#include "backend/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <thread>
#include <vector>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#include "base/error.h"
#include "base/os/threads.h"

namespace mnnc {
namespace {

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Short waits spin; longer ones yield the CPU, because the thread that the caller waits for may need it.
class Spinner {
  public:
    void wait() {
        if (++rounds_ % 256 != 0)
            relax();
        else
            std::this_thread::yield();
    }
    // Waits, and returns whether the waits since reset() have lasted for so long that sleeping is better.
    bool waitedLong() {
        wait();
        if (rounds_ % 256 != 0) return false;
        const auto now = std::chrono::steady_clock::now();
        if (rounds_ == 256) begin_ = now;
        return now - begin_ > std::chrono::milliseconds(1);
    }
    void reset() { rounds_ = 0; }

  private:
    unsigned rounds_ = 0;
    std::chrono::steady_clock::time_point begin_;
};

// Returns the number of cores that threads made by this one may use.
int usableCoreCount() {
    if (const size_t usable = os::usableCores().size(); usable > 0) return static_cast<int>(usable);
    const int online = os::onlineCores();
    return online > 0 ? online : INT_MAX;
}

}  // namespace

struct ForkJoinPool::State {
    // The pool of a lease holder: runs on the workers. Its endRun() returns the lease.
    class Lease final : public ThreadPool {
      public:
        explicit Lease(State& state) : state_(state) {}
        int threads() const override { return state_.working(); }
        void run(int tasks, Task task, void* ctx) override { state_.run(tasks, task, ctx); }
        void endRun() override { state_.release(); }

      private:
        State& state_;
    };

    // Drowsy: leased, but without work for a while, e.g. because the host's callback takes its time. From Awake on the
    // mode is the number of threads that compute, more than one; workers beyond that number sleep.
    enum Mode : int { Asleep, Drowsy, Stopped, Awake };

    State() : lease(*this) {}

    int threads() const { return static_cast<int>(workers.size()) + 1; }
    // The number of threads of the lease, by which jobs are cut.
    int working() const { return active.load(std::memory_order_relaxed); }
    // More threads than cores would only take the cores from each other: those that compute take all parts.
    int computing() const { return std::min(working(), cores); }

    void setMode(int next) {
        mode.store(next, std::memory_order_release);
        os::wakeAll(mode);
    }
    void wake() { setMode(Awake + computing()); }

    bool acquire(int wanted) {
        if (leased.exchange(true, std::memory_order_acquire)) return false;
        wanted = std::clamp(wanted, 1, threads());
        if (wanted != working()) {
            // A worker that comes late may look for tasks of the last job in all parts of the new lease. So parts that
            // had no tasks of that job are marked as used up by it, too.
            const uint64_t none = job.present.load(std::memory_order_relaxed) >> 32 << 32;
            for (Part& part : parts) part.left.store(none, std::memory_order_relaxed);
            active.store(wanted, std::memory_order_release);
        }
        if (computing() > 1) wake();
        return true;
    }

    void release() {
        mode.store(Asleep, std::memory_order_relaxed);
        leased.store(false, std::memory_order_release);
    }

    // A job's tasks are cut into one part per thread, so that consecutive jobs over the same data keep each thread at
    // the piece that its cache holds. Waiting workers read one word, the present job, and the caller's one write of it
    // starts them all: with many threads, the transfers of cache lines between cores are what a job costs. Each part
    // has the number of the last job that claimed tasks of it, and how many it has left; the first claim of a later
    // job sets it anew. A job cannot end before a claimed task does, so task and ctx are stable for the thread that
    // claimed it; a worker that comes late finds no task left in any part, claims nothing, and no thread waits for it.
    struct alignas(64) Part {
        std::atomic<uint64_t> left{0};
        std::atomic<uint32_t> finished{0};  // tasks of all jobs
        uint32_t expected = 0;              // the same, as the caller counts them
    };

    void run(int tasks, Task task, void* ctx) {
        if (tasks <= 0) return;
        if (tasks == 1 || working() == 1) {
            for (int i = 0; i < tasks; ++i) task(ctx, i);
            return;
        }
        job.task = task;
        job.ctx = ctx;
        job.floatMode = FloatMode::current().control();
        if (mode.load(std::memory_order_relaxed) == Drowsy) wake();
        const uint64_t number = ((job.present.load(std::memory_order_relaxed) >> 32) + 1) & UINT32_MAX;
        // A part that no job gives tasks keeps the number of an early job, from which numbers must not differ by 2^31.
        if (number % (1U << 30) == 0)
            for (Part& part : parts) part.left.store((number - 1) << 32, std::memory_order_relaxed);
        const uint64_t present = number << 32 | static_cast<uint32_t>(tasks);
        job.present.store(present, std::memory_order_release);
        work(0, present);
        Spinner spinner;
        const int count = working();
        for (int t = 0; t < count; ++t) {
            parts[t].expected += static_cast<uint32_t>(partBegin(tasks, t + 1, count) - partBegin(tasks, t, count));
            while (parts[t].finished.load(std::memory_order_acquire) != parts[t].expected) spinner.wait();
        }
    }

    static int partBegin(int tasks, int t, int count) { return static_cast<int>(int64_t{tasks} * t / count); }

    // Claims and runs tasks of this job until none is left, first those of the thread's own part. `applied` is the
    // floating-point mode of a worker.
    void work(int self, uint64_t present, FloatMode* applied = nullptr) {
        const auto number = static_cast<uint32_t>(present >> 32);
        const auto tasks = static_cast<int>(static_cast<uint32_t>(present));
        const int count = active.load(std::memory_order_acquire);  // a late worker may find that of a later lease
        // Where there are more parts than computing threads, each thread begins with its share of the parts.
        const int threads = std::min(count, cores);
        int t = self < threads ? partBegin(count, self, threads) : 0;
        for (int i = 0; i < count; ++i, t = t + 1 < count ? t + 1 : 0) {
            Part& part = parts[t];
            const int begin = partBegin(tasks, t, count), end = partBegin(tasks, t + 1, count);
            uint32_t finished = 0;
            for (uint64_t seen = part.left.load(std::memory_order_acquire);;) {
                const auto age = static_cast<int32_t>(number - static_cast<uint32_t>(seen >> 32));
                const int left = age > 0 ? end - begin : age == 0 ? static_cast<int>(static_cast<uint32_t>(seen)) : 0;
                if (left == 0) break;
                const uint64_t next = uint64_t{number} << 32 | static_cast<uint32_t>(left - 1);
                if (!part.left.compare_exchange_weak(seen, next, std::memory_order_acq_rel, std::memory_order_acquire))
                    continue;
                seen = next;
                if (applied && !(*applied == job.floatMode)) {
                    *applied = job.floatMode;
                    applied->apply();
                }
                job.task(job.ctx, end - left);
                ++finished;
            }
            if (finished) part.finished.fetch_add(finished, std::memory_order_release);
        }
    }

    void workerMain(int self) {
        FloatMode applied = FloatMode::current();
        uint64_t done = 0;  // the last job in which this worker found no more tasks
        for (;;) {
            const int seen = mode.load(std::memory_order_acquire);
            if (seen == Stopped) return;
            if (seen <= Awake + self) {  // asleep, or more threads than compute
                os::sleepWhile(mode, seen);
                continue;
            }
            Spinner spinner;
            while (mode.load(std::memory_order_relaxed) == seen) {
                const uint64_t present = job.present.load(std::memory_order_acquire);
                if (present != done) {
                    work(self, present, &applied);
                    done = present;
                    spinner.reset();
                } else if (spinner.waitedLong()) {
                    // If a job begins at this moment, the other threads compute it; they never wait for a sleeping
                    // thread.
                    int awake = seen;
                    mode.compare_exchange_strong(awake, Drowsy, std::memory_order_relaxed);
                }
            }
        }
    }

    struct alignas(64) Job {
        Task task = nullptr;
        void* ctx = nullptr;
        FloatMode floatMode = FloatMode::computing(true);
        std::atomic<uint64_t> present{0};  // the job's number, which wraps around, and its number of tasks
    };

    const int process = os::processNumber();
    int cores = usableCoreCount();
    std::vector<std::thread> workers;
    std::vector<Part> parts;
    Job job;  // changes, as the fields after it do: they share no cache line with those that all threads only read
    alignas(64) std::atomic<bool> leased{false};
    std::atomic<int> active{1};
    alignas(64) std::atomic<int> mode{Asleep};
    Lease lease;
    InlinePool inlinePool;
};

ForkJoinPool::ForkJoinPool(int threads) : state_(std::make_unique<State>()) {
    State* state = state_.get();
    state->workers.reserve(threads > 1 ? threads - 1 : 0);
    state->parts = std::vector<State::Part>(threads > 1 ? threads : 1);
    const os::SignalsBlocked guard;
    for (int i = 1; i < threads; ++i) {
        try {
            state->workers.emplace_back([state, i] { state->workerMain(i); });
        } catch (...) {
            break;  // the system makes no more threads: the pool works with those that it has
        }
    }
}

ForkJoinPool::~ForkJoinPool() {
    if (state_->process != os::processNumber()) {
        // A forked child does not have these threads, and the identifiers may name threads of its own by now. So
        // nothing can be stopped, joined or detached, and the state is leaked.
        state_.release();  // NOLINT(bugprone-unused-return-value)
        return;
    }
    state_->setMode(State::Stopped);
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
    ThreadPool* const leased = lease(threads());
    return leased ? *leased : state_->inlinePool;
}

ThreadPool* ForkJoinPool::lease(int threads) {
    // A forked child has no workers.
    const bool mine = !state_->workers.empty() && state_->process == os::processNumber();
    return mine && state_->acquire(threads) ? &state_->lease : nullptr;
}

void ForkJoinPool::place(const std::vector<int>& cores) {
    if (cores.empty() || state_->workers.empty()) return;
    for (const int core : cores)
        if (!os::placeThread(state_->workers.front().native_handle(), {core}))
            fail(Status::InvalidValue, "core %d cannot be used: the system places no thread on it", core);
    for (std::thread& worker : state_->workers)
        if (!os::placeThread(worker.native_handle(), cores))
            fail(Status::InvalidValue, "the system does not place threads on the cores that are asked for");
    state_->cores = static_cast<int>(cores.size()) + 1;  // plus the caller's core
}

}  // namespace mnnc
