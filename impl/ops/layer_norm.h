// Parameters of LayerNorm, and the blocks that it works on.
#pragma once
#include <vector>

#include "ir/params.h"
#include "tensor/tensor.h"

namespace mnnc {

struct LayerNormParams : ParamsOf<LayerNormParams> {
    std::vector<int> axes;  // a set: in any order, from either end
    float epsilon = 0;
    std::vector<float> gamma, beta;  // equal sizes; both empty: no affine part
    int group = 1;
    bool rms = false;          // without subtracting the mean
    bool overChannel = false;  // over axis 1; `axes` is ignored
};

// A row-major tensor viewed as [outer][length][inner]: normalised along `length`. Where other axes lie between the
// normalised ones, the view is that of the transposed tensor, in which the operator's geometry has moved the normalised
// axes to the end.
struct NormBlocks {
    int64_t outer = 1, length = 1, inner = 1;
};
// Throws ComputeSizeError, BadParameter or BadRange naming `what`.
NormBlocks normBlocks(const LayerNormParams& params, const Shape& shape, const char* what);

}  // namespace mnnc
