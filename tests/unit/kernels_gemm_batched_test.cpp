// Matrix products whose right operand is not packed, for every instruction set of this CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/gemm/gemm.h"
#include "gemm_reference.h"

namespace mnnc::test {
namespace {

// Slices of the sums are computed one after another; integers are exact.
TEST(KernelsGemm, BatchedInSlices) {
    ForkJoinPool two(2);
    InlinePool one;
    const int count = 2, M = 50, N = 77, K = 3001;
    const Floats a = wholeNumbers(size_t(count) * M * K, 3), b = wholeNumbers(size_t(count) * N * K, 5),
                 bias = wholeNumbers(N, 2);
    for (const std::string& isa : availableIsas()) {
        const Kernels& k = selectKernels(isa);
        for (int form = 0; form < 8; ++form) {
            RunLease lease(form & 4 ? static_cast<ThreadPool&>(one) : two);
            Floats c(size_t(count) * M * N);
            BatchedGemmArgs g;
            g.count = count;
            g.M = M;
            g.N = N;
            g.K = K;
            g.a = a.data();
            g.transA = form & 1;
            g.lda = g.transA ? M : K;
            g.b = b.data();
            g.transB = form & 2;
            g.ldb = g.transB ? K : N;
            g.c = c.data();
            g.ldc = N;
            g.aStep = size_t(M) * K;
            g.bStep = size_t(N) * K;
            g.cStep = size_t(M) * N;
            g.post.bias = bias.data();
            g.post.lo = -20;
            Floats scratch(batchedGemmScratchBytes(k, g, 2) / 4);
            g.scratch = scratch.data();
            batchedGemm(k, g, lease.pool());
            for (int i = 0; i < count; ++i) {
                const Floats expected = reference(M, N, K, a.data() + i * g.aStep, g.lda, g.transA,
                                                  b.data() + i * g.bStep, g.ldb, g.transB);
                for (int j = 0; j < M * N; ++j)
                    ASSERT_EQ(c[i * M * N + j], std::max(-20.0f, expected[j] + bias[j % N])) << isa << form;
            }
        }
    }
}

TEST(KernelsGemm, Batched) {
    ForkJoinPool two(2);
    InlinePool one;
    const int sizes[][4] = {{1, 19, 37, 24}, {3, 19, 37, 24}, {9, 19, 37, 24}, {1, 5, 70, 0}, {5, 3, 130, 7}};
    for (const std::string& isa : availableIsas()) {
        const Kernels k = kernelsWithBf16(isa);
        for (const auto& [count, M, N, K] : sizes) {
            for (int form = 0; form < 8; ++form) {
                const GemmType type = form < 4 ? GemmType::Float : GemmType::Bf16;
                const bool transA = form & 1, transB = form & 2;
                const Floats a = randomFloats(size_t(count) * M * K, 1), b = randomFloats(size_t(count) * N * K, 2);
                const Floats ra = operands(type, a), rb = operands(type, b);
                Floats first;
                for (int threads = 1; threads <= 2; ++threads) {
                    RunLease lease(threads == 1 ? static_cast<ThreadPool&>(one) : two);
                    Floats c(size_t(count) * M * N);
                    BatchedGemmArgs g;
                    g.type = type;
                    g.count = count;
                    g.M = M;
                    g.N = N;
                    g.K = K;
                    g.a = a.data();
                    g.lda = transA ? M : K;
                    g.transA = transA;
                    g.b = b.data();
                    g.ldb = transB ? K : N;
                    g.transB = transB;
                    g.c = c.data();
                    g.ldc = N;
                    g.aStep = M * K;
                    g.bStep = N * K;
                    g.cStep = M * N;
                    Floats scratch(batchedGemmScratchBytes(k, g, threads) / 4);
                    g.scratch = scratch.data();
                    batchedGemm(k, g, lease.pool());
                    for (int i = 0; i < count; ++i) {
                        const Floats expected = reference(M, N, K, ra.data() + i * M * K, g.lda, transA,
                                                          rb.data() + i * N * K, g.ldb, transB);
                        for (int j = 0; j < M * N; ++j) ASSERT_NEAR(c[i * M * N + j], expected[j], 2e-5) << isa << form;
                    }
                    if (threads == 1) {
                        first = c;
                    } else {
                        ASSERT_EQ(0, std::memcmp(first.data(), c.data(), c.size() * 4));
                    }
                }
            }
        }
    }
}

// A few rows read B unpacked: columns that are no whole vectors, rows with other floats behind them, an epilogue, and
// any number of threads.
TEST(KernelsGemm, FewRowsReadBAsItLies) {
    ForkJoinPool two(2);
    InlinePool one;
    const int count = 3, gap = 5;
    for (const std::string& isa : availableIsas()) {
        const Kernels& k = selectKernels(isa);
        for (int M = 1; M <= 5; ++M)
            for (const int N : {1, 15, 16, 33, 127, 128, 300})
                for (const int K : {0, 1, 7, 401}) {
                    const size_t ldb = size_t(N) + gap;
                    const Floats a = wholeNumbers(size_t(count) * M * K, 3),
                                 b = wholeNumbers(size_t(count) * K * ldb, 5), bias = wholeNumbers(N, 2);
                    for (ThreadPool* pool : {static_cast<ThreadPool*>(&one), static_cast<ThreadPool*>(&two)}) {
                        RunLease lease(*pool);
                        Floats c(size_t(count) * M * ldb, -7.0f);
                        BatchedGemmArgs g;
                        g.count = count;
                        g.M = M;
                        g.N = N;
                        g.K = K;
                        g.a = a.data();
                        g.lda = K;
                        g.b = b.data();
                        g.ldb = g.ldc = ldb;
                        g.c = c.data();
                        g.aStep = size_t(M) * K;
                        g.bStep = size_t(K) * ldb;
                        g.cStep = size_t(M) * ldb;
                        g.post.bias = bias.data();
                        g.post.lo = -2;
                        Floats scratch(batchedGemmScratchBytes(k, g, 2) / 4);
                        g.scratch = scratch.data();
                        batchedGemm(k, g, lease.pool());
                        for (int i = 0; i < count; ++i) {
                            const Floats expected = reference(M, N, K, a.data() + i * g.aStep, g.lda, false,
                                                              b.data() + i * g.bStep, ldb, false);
                            for (int m = 0; m < M; ++m)
                                for (size_t n = 0; n < ldb; ++n) {
                                    const bool inside = n < size_t(N);
                                    const float sum = inside ? std::max(-2.0f, expected[m * N + n] + bias[n]) : -7;
                                    ASSERT_EQ(c[i * g.cStep + m * ldb + n], sum) << isa << M << "x" << N << "x" << K;
                                }
                        }
                    }
                }
    }
}

}  // namespace
}  // namespace mnnc::test
