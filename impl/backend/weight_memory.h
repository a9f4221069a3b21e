// Memory of prepared weights, side by side in a few large mappings: so they fill huge pages, which cost a fraction of
// the faults of small ones. A buffer gives its pages back when its last owner goes, a mapping its addresses when all
// of its buffers are gone.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>

namespace mnnc {

class WeightMemory {
  public:
    // Aligned to 64 bytes, with slack behind the end as AlignedBuffer has it. `more`: how many bytes of other weights
    // are expected besides; a huge page is taken only where they fill it. OutOfMemory names the size.
    std::shared_ptr<void> allocate(int64_t bytes, int64_t more);

  private:
    class Mapping;
    std::mutex mutex_;
    std::weak_ptr<Mapping> current_;
};

}  // namespace mnnc
