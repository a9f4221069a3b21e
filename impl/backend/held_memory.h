// How much memory a session holds together with the weights that its interpreter's sessions share, and the most that it
// ever was.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace mnnc {

class HeldMemory;

// The bytes of all prepared weights of an interpreter. Weights come and go while sessions are planned, on any thread.
class WeightBytes {
  public:
    int64_t value() const noexcept { return bytes_; }
    // Below 0: given back.
    void add(int64_t bytes) noexcept;

  private:
    friend class HeldMemory;
    std::atomic<int64_t> bytes_{0};
    std::mutex mutex_;  // of the list
    std::vector<HeldMemory*> sessions_;
};

// What one session holds beside them. Changed by the call that has the session, read by any thread.
class HeldMemory {
  public:
    struct Now {
        int64_t weights, total, peak;
    };

    explicit HeldMemory(std::shared_ptr<WeightBytes> weights);
    ~HeldMemory();
    HeldMemory(const HeldMemory&) = delete;
    HeldMemory& operator=(const HeldMemory&) = delete;

    // For memory that is there, or (below 0) is about to go.
    void add(int64_t bytes) noexcept;
    // Of one moment, so that the peak is never below the total.
    Now now() noexcept;

  private:
    std::shared_ptr<WeightBytes> weights_;
    std::atomic<int64_t> own_{0}, peak_{0};
};

}  // namespace mnnc
