// The memory of one run of a plan. Executions are prepared once and hold no addresses of their own: while they run, they ask
// the frame where the elements of a tensor lie.
#pragma once
#include <cstdint>

#include "tensor/tensor.h"

namespace mnnc {

class Frame {
  public:
    // The elements of a tensor in the host's memory; null where it has none.
    template <typename T>
    T* data(const Tensor& tensor) const noexcept {
        return static_cast<T*>(tensor.data);
    }
    // How many runs over this memory came before. An execution that reads large weights once goes through them from the
    // other end in every second run, because the cache still has what the run before read last.
    uint64_t number() const noexcept { return number_; }
    bool isOdd() const noexcept { return number_ % 2 != 0; }
    // This run is over.
    void endRun() noexcept { ++number_; }

  private:
    uint64_t number_ = 0;
};

}  // namespace mnnc
