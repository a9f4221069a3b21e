// Memory for prepared weights, adjacent in a few large mappings: there they fill huge pages, which cause far fewer
// faults than small ones. A buffer releases its pages with its last owner, a mapping releases its addresses with its
// last buffer.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>

namespace mnnc {

class WeightMemory {
  public:
    // Aligned to 64 bytes, with slack after the end as in AlignedBuffer. `more`: bytes of other weights that are
    // expected; a huge page is used only where these fill it. Throws OutOfMemory with the size.
    std::shared_ptr<void> allocate(int64_t bytes, int64_t more);

  private:
    class Mapping;
    std::mutex mutex_;
    std::weak_ptr<Mapping> current_;
};

}  // namespace mnnc
