// Parameters of MatMul, BatchMatMul and InnerProduct, and the sizes of a product.
#pragma once
#include <vector>

#include "ir/params.h"
#include "tensor/shape.h"

namespace mnnc {

struct MatMulParams : ParamsOf<MatMulParams> {
    bool transposeA = false, transposeB = false;
};

// C[batch][e][h] = A[batch][e][l] B[batch][l][h]. Batch shapes are those of A and B without their last two extents.
struct MatMulSizes {
    int64_t e = 1, l = 1, h = 1;
    bool transposeA = false, transposeB = false;  // false for a rank 1 operand
    Shape batchA, batchB, batch;
    Shape output;
};
// Throws ComputeSizeError naming `what` when the operands do not fit.
MatMulSizes matMulSizes(const MatMulParams& params, const Shape& a, const Shape& b, const char* what);

struct InnerProductParams : ParamsOf<InnerProductParams> {
    int outputs = 0, inputs = 0;
    int axis = 0;               // of an input of rank 3 or more, as in the file
    std::vector<float> weight;  // [outputs][inputs]
    std::vector<float> bias;    // empty or `outputs` values
};

}  // namespace mnnc
