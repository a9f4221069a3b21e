// Sequences: the parameters of the TensorArray operators, and the effect of writing an element.
#pragma once
#include <optional>

#include "ir/params.h"
#include "tensor/tensor_list.h"

namespace mnnc {

struct TensorArrayParams : ParamsOf<TensorArrayParams> {
    bool dynamic = false;
    std::optional<Shape> element;  // absent where the file lacks some of its extents
    DataType type = DataType::Float32;
    int64_t axis = 0;
    bool keepDims = true, newAxis = false;
};

// Returns the sequence after writing an element of this shape at `index`. The first element of a sequence determines
// the shape of all others.
TensorList writtenList(const TensorList& list, int64_t index, const Shape& element);

}  // namespace mnnc
