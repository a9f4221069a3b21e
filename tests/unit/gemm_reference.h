// Reference results for matrix products.
#pragma once
#include <cstddef>

#include "backends/cpu/kernels/gemm/gemm.h"
#include "float_util.h"
#include "scalar_bf16.h"

namespace mnnc::test {

// Returns small numbers, whose sums are exact.
inline Floats wholeNumbers(size_t count, int step) {
    Floats out(count);
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<float>(static_cast<int>(i * step % 7) - 3);
    return out;
}

inline Floats operands(GemmType type, const Floats& values) {
    return type == GemmType::Bf16 ? roundedToBf16(values) : values;
}

// A and B in the form of GemmArgs, with slack in the leading dimensions.
inline Floats reference(int M, int N, int K, const float* a, size_t lda, bool transA, const float* b, size_t ldb,
                        bool transB) {
    Floats c(size_t(M) * N);
    for (int m = 0; m < M; ++m) {
        for (int n = 0; n < N; ++n) {
            double sum = 0;
            for (int k = 0; k < K; ++k) {
                sum += double(transA ? a[k * lda + m] : a[m * lda + k]) * (transB ? b[n * ldb + k] : b[k * ldb + n]);
            }
            c[size_t(m) * N + n] = static_cast<float>(sum);
        }
    }
    return c;
}

// The arguments of a product whose A has rows of K elements.
inline GemmArgs productOf(int M, int N, int K, const float* a, const float* packedB, float* c, size_t ldc) {
    GemmArgs g;
    g.M = M;
    g.N = N;
    g.K = K;
    g.a = a;
    g.lda = static_cast<size_t>(K);
    g.packedB = packedB;
    g.c = c;
    g.ldc = ldc;
    return g;
}

}  // namespace mnnc::test
