// Counts the runs and the plans of a session, and their durations.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace mnnc {

// Only the call that owns the session changes them; any thread may read them.
struct CallCounts {
    std::atomic<uint64_t> done{0}, failed{0}, lastNanoseconds{0}, totalNanoseconds{0};
};

struct Statistics {
    CallCounts runs, plans;
};

// Counts one call, as failed unless it ends with finish(). It reads the clock twice, and neither locks nor allocates.
class CountedCall {
  public:
    explicit CountedCall(CallCounts& counts) noexcept : counts_(counts), start_(Clock::now()) {}
    ~CountedCall() {
        if (!finished_) add(counts_.failed, 1);
    }
    CountedCall(const CountedCall&) = delete;
    CountedCall& operator=(const CountedCall&) = delete;
    void finish() noexcept {
        const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_);
        const auto nanoseconds = static_cast<uint64_t>(passed.count());
        counts_.lastNanoseconds.store(nanoseconds, std::memory_order_relaxed);
        add(counts_.totalNanoseconds, nanoseconds);
        add(counts_.done, 1);
        finished_ = true;
    }

  private:
    using Clock = std::chrono::steady_clock;
    // There is only one writer at a time, so an atomic addition is unnecessary.
    static void add(std::atomic<uint64_t>& sum, uint64_t more) noexcept {
        sum.store(sum.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }

    CallCounts& counts_;
    const Clock::time_point start_;
    bool finished_ = false;
};

}  // namespace mnnc
