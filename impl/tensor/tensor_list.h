// The elements of a sequence (a TensorArray of TensorFlow, a sequence of ONNX). A tensor of rank 1 holds them one after
// another; this list has their number and shapes. The list does not change any more once a tensor has it.
#pragma once
#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace mnnc {

class TensorList {
  public:
    // Neighbours with the same shape. An element that has not been written yet may have an unknown shape: it takes no
    // place.
    struct Run {
        int64_t count = 0;
        bool known = false;
        Shape shape;

        int64_t elementSize() const { return known ? shape.elements() : 0; }
        bool sameElement(const Run& other) const noexcept {
            return known == other.known && (!known || shape == other.shape);
        }
    };

    bool dynamic = false;  // grows when an element beyond the last one is written

    TensorList() = default;
    TensorList(int64_t count, bool known, const Shape& shape) { append({count, known, shape}); }

    const std::vector<Run>& runs() const noexcept { return runs_; }
    int64_t size() const;   // the number of elements; throws Overflow
    int64_t total() const;  // the number of values in all of them
    // offset() accepts index <= size(), at() index < size().
    int64_t offset(int64_t index) const;  // where an element begins
    const Run& at(int64_t index) const;
    // anyKnown(): the shape of some element is known. uniform(): all elements have the same shape.
    bool anyKnown() const noexcept;
    bool uniform() const noexcept { return runs_.size() == 1; }

    void append(const Run& run);
    // Returns the elements [first, last) as a separate list.
    TensorList part(int64_t first, int64_t last) const;
    void appendAll(const TensorList& other);

    bool operator==(const TensorList& other) const noexcept;

  private:
    std::vector<Run> runs_;  // no empty ones, neighbours differ
};

// Returns whether two tensors are sequences of the same shapes, or both are no sequences.
bool sameList(const std::shared_ptr<const TensorList>& a, const std::shared_ptr<const TensorList>& b) noexcept;

}  // namespace mnnc
