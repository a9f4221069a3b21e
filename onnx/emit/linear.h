// Writes products with constant matrices as convolutions of 1x1, for which the format stores weights as codes, and
// engines have their best kernels.
#pragma once
#include "codes.h"

namespace mnnc::onnx {

// Products with constant matrices of fewer elements stay products.
constexpr int64_t kMinWeights = 16;

// x [..., K] times weights [N, K], plus an optional bias of N numbers: [..., N]. transposed: the weights are [K, N].
V linear(Call& c, V x, const ArrayPtr& weights, bool transposed, const Array* bias);
V linear(Call& c, V x, const WeightCodes& codes, int64_t columns, const Array* bias);

// a times b, and alpha * a * b + beta * bias: as convolutions where b is a constant matrix.
V product(Call& c, V a, V b);
V gemm(Call& c, V a, V b, V bias, float alpha, float beta, bool transA, bool transB);

}  // namespace mnnc::onnx
