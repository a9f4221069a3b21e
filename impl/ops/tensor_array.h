// Sequences: the parameters of the TensorArray operators, and what writing an element makes of a sequence.
#pragma once
#include <optional>

#include "ir/params.h"
#include "tensor/tensor_list.h"

namespace mnnc {

struct TensorArrayParams : ParamsOf<TensorArrayParams> {
    bool dynamic = false;
    std::optional<Shape> element;  // absent where the file does not know all of its extents
    DataType type = DataType::Float32;
    int64_t axis = 0;
    bool keepDims = true, newAxis = false;
};

// The sequence with an element of this shape at `index`. The first element of a sequence gives all others their shape.
TensorList writtenList(const TensorList& list, int64_t index, const Shape& element);

}  // namespace mnnc
