// Products with constant matrices as convolutions of 1x1, which hold weights as codes in the format.
#pragma once
#include "codes.h"

namespace mnnc::onnx {

// Products with constant matrices of fewer numbers stay products.
constexpr int64_t kFewestCodes = 1024;

// Whether the product with a constant is to be a convolution, because the options want codes.
bool wantsCodes(Call& c, V weight);

// x [..., K] times weights [N, K], and a bias of N numbers, or none: [..., N].
V linear(Call& c, V x, std::vector<float> weights, int64_t columns, const Array* bias);
V linear(Call& c, V x, const WeightCodes& codes, int64_t columns, const Array* bias);

// a times b, and alpha * a * b + beta * bias: as convolutions where b has codes or is to get them.
V product(Call& c, V a, V b);
V gemm(Call& c, V a, V b, V bias, float alpha, float beta, bool transA, bool transB);

// The numbers of a constant matrix as [N, K]: transposed where it is [K, N].
std::vector<float> rowsOf(const Array& matrix, bool transposed);

}  // namespace mnnc::onnx
