// The extents of a tensor: up to nine, in the order of its format.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "base/rank.h"

namespace mnnc {

class Shape {
  public:
    Shape() = default;  // rank 0: a scalar, one element
    Shape(std::initializer_list<int64_t> extents);
    explicit Shape(std::span<const int64_t> extents);
    explicit Shape(std::span<const int32_t> extents);

    int rank() const noexcept { return rank_; }
    int64_t operator[](int axis) const noexcept { return extents_[axis]; }
    int64_t& operator[](int axis) noexcept { return extents_[axis]; }
    // Returns the extent at an axis, 1 beyond the rank (convolution-like rules read missing axes as 1).
    int64_t at(int axis) const noexcept { return axis < rank_ ? extents_[axis] : 1; }
    void push(int64_t extent);                // throws BadRange beyond kMaxRank
    void resize(int rank, int64_t fill = 1);  // throws BadRange beyond kMaxRank
    void insert(int axis, int64_t extent);
    void erase(int axis);

    // Returns the product of all extents, or of those in [first, last). Throws Overflow; a negative extent throws too.
    int64_t elements() const;
    int64_t elements(int first, int last) const;
    bool empty() const noexcept;  // some extent is 0
    std::string text() const;     // "1x3x224x224", "scalar"

    bool operator==(const Shape& other) const noexcept;

    const int64_t* begin() const noexcept { return extents_; }
    const int64_t* end() const noexcept { return extents_ + rank_; }

  private:
    int rank_ = 0;
    int64_t extents_[kMaxRank] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
};

// Adds the rank to a negative axis and throws BadRange (naming `what`) when it is still outside [0, rank).
int normalizeAxis(int64_t axis, int rank, const char* what);

// NumPy broadcasting of two shapes; throws ComputeSizeError naming `what` when they do not fit.
Shape broadcastShapes(const Shape& a, const Shape& b, const char* what);

}  // namespace mnnc
