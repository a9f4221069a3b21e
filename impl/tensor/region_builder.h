// Builds region lists from boxes of any rank: extents of 1 vanish, axes that are contiguous in both tensors are merged,
// and the smallest axes beyond three are enumerated. All pure data movement goes through here.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/region.h"
#include "tensor/shape.h"

namespace mnnc {

using Strides = std::array<int64_t, kMaxRank>;

// Returns the strides of the logical linear order. Throws Overflow.
Strides rowMajorStrides(const Shape& shape);

struct BoxAxis {
    int64_t size = 1;
    int64_t src = 0;  // stride in the source; may be 0 or negative
    int64_t dst = 0;  // stride in the destination
};

class RegionBuilder {
  public:
    // `opName` appears in error sentences and must outlive the builder.
    explicit RegionBuilder(const char* opName) : opName_(opName) {}

    // Adds a box, whose axes begin with the outermost one. A box with an extent of 0 adds nothing. Throws LimitExceeded
    // above kMaxRegions.
    void box(int input, int64_t srcOffset, int64_t dstOffset, std::span<const BoxAxis> axes);
    std::vector<Region> take() { return std::move(regions_); }

    static constexpr int64_t kMaxRegions = 1000000;

  private:
    void enumerate(int input, int64_t srcOffset, int64_t dstOffset, std::span<const BoxAxis> outer,
                   std::span<const BoxAxis> inner);

    const char* opName_;
    std::vector<Region> regions_;
};

// A tensor viewed around one axis: [outer][axis][inner].
struct AxisSplit {
    int64_t outer = 1, axis = 1, inner = 1;
    AxisSplit(const Shape& shape, int at)
        : outer(shape.elements(0, at)), axis(shape[at]), inner(shape.elements(at + 1, shape.rank())) {}
};

}  // namespace mnnc
