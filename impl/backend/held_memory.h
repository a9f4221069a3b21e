// Counts the memory that a session holds together with the weights that its interpreter's sessions share, and the peak
// of that sum.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace mnnc {

class HeldMemory;

// Counts the bytes of all prepared weights of an interpreter. They change while sessions are planned, on any thread.
class WeightBytes {
  public:
    int64_t value() const noexcept { return bytes_; }
    // bytes below 0: weights were released.
    void add(int64_t bytes) noexcept;

  private:
    friend class HeldMemory;
    std::atomic<int64_t> bytes_{0};
    std::mutex mutex_;  // guards the list
    std::vector<HeldMemory*> sessions_;
};

// Counts the bytes that one session holds besides the weights. The call that owns the session changes the count; any
// thread may read it.
class HeldMemory {
  public:
    struct Now {
        int64_t weights, total, peak;
    };

    explicit HeldMemory(std::shared_ptr<WeightBytes> weights);
    ~HeldMemory();
    HeldMemory(const HeldMemory&) = delete;
    HeldMemory& operator=(const HeldMemory&) = delete;

    // Called for memory that exists, or (below 0) is about to be released.
    void add(int64_t bytes) noexcept;
    // Both values belong to one moment, so that the peak is never below the total.
    Now now() noexcept;

  private:
    std::shared_ptr<WeightBytes> weights_;
    std::atomic<int64_t> own_{0}, peak_{0};
};

}  // namespace mnnc
