// Row-major matrix products and layout conversions, for every instruction set this CPU has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/pack.h"
#include "float_util.h"
#include "gemm_reference.h"

namespace mnnc::test {
namespace {

TEST(KernelsGemm, AllForms) {
    ForkJoinPool two(2);
    InlinePool one;
    const int sizes[][3] = {{1, 1, 1},    {1, 100, 33},  {1, 700, 50},  {2, 530, 20}, {5, 7, 3},
                            {17, 65, 40}, {50, 33, 129}, {145, 96, 64}, {3, 200, 16}, {40, 47, 0}};
    for (const std::string& isa : availableIsas()) {
        const Kernels k = kernelsWithBf16(isa);
        for (const auto& [M, N, K] : sizes) {
            for (int form = 0; form < 8; ++form) {
                const GemmType type = form < 4 ? GemmType::Float : GemmType::Bf16;
                SCOPED_TRACE(isa + " " + std::to_string(M) + "x" + std::to_string(N) + "x" + std::to_string(K) +
                             " form " + std::to_string(form));
                const bool transA = form & 1, transB = form & 2;
                const size_t lda = (transA ? M : K) + 3, ldb = (transB ? K : N) + 2, ldc = N + 1;
                const Floats a = randomFloats(lda * (transA ? K : M) + 1, 1),
                             b = randomFloats(ldb * (transB ? N : K) + 1, 2);
                const Floats bias = randomFloats(N, 3), rowBias = randomFloats(M, 4);
                const Floats ra = operands(type, a), rb = operands(type, b);
                const Floats expected = reference(M, N, K, ra.data(), lda, transA, rb.data(), ldb, transB);
                Floats first;
                for (int threads = 1; threads <= 2; ++threads) {
                    RunLease lease(threads == 1 ? static_cast<ThreadPool&>(one) : two);
                    Floats packed(gemmPackedBytes(k, type, N, K) / 4);
                    gemmPackB(k, type, N, K, b.data(), ldb, transB, packed.data(), lease.pool());
                    Floats c(ldc * M, -77.0f);
                    GemmArgs g;
                    g.type = type;
                    g.M = M;
                    g.N = N;
                    g.K = K;
                    g.a = a.data();
                    g.lda = lda;
                    g.transA = transA;
                    g.packedB = packed.data();
                    g.c = c.data();
                    g.ldc = ldc;
                    g.post.bias = bias.data();
                    g.rowBias = rowBias.data();
                    Floats scratch(gemmScratchBytes(k, g, threads) / 4);
                    g.scratch = scratch.data();
                    gemm(k, g, lease.pool());
                    for (int m = 0; m < M; ++m) {
                        for (int n = 0; n < N; ++n) {
                            ASSERT_NEAR(c[m * ldc + n], expected[size_t(m) * N + n] + bias[n] + rowBias[m], 2e-5)
                                << m << "," << n;
                        }
                        ASSERT_EQ(c[m * ldc + N], -77.0f) << "wrote past the row";
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

// B is provided in pieces, each invalid when the next is requested, and is packed to the same bytes. Some rows are
// longer than a piece, and some sides fill neither panels nor pairs.
TEST(KernelsGemm, PacksPieces) {
    const int sizes[][2] = {{701, 1001}, {1001, 701}, {70001, 7}, {5, 3}, {1, 40000}};
    for (const std::string& isa : availableIsas()) {
        const Kernels k = kernelsWithBf16(isa);
        for (const auto& [N, K] : sizes)
            for (int form = 0; form < 8; ++form) {
                SCOPED_TRACE(isa + " " + std::to_string(N) + "x" + std::to_string(K) + " form " + std::to_string(form));
                const GemmType type = form & 1 ? GemmType::Bf16 : GemmType::Float;
                const bool transB = form & 2;
                const size_t ldb = transB ? K + 3 : N + 2, count = (transB ? N - 1 : K - 1) * ldb + (transB ? K : N);
                const Floats b = randomFloats(count, 2);
                ForkJoinPool pool(form & 4 ? 2 : 1);
                RunLease lease(pool);
                const size_t bytes = gemmPackedBytes(k, type, N, K);
                Floats whole(bytes / 4, -1.0f), pieces(bytes / 4, -1.0f);
                gemmPackB(k, type, N, K, b.data(), ldb, transB, whole.data(), lease.pool());
                std::vector<float> piece;
                size_t asked = 0, largest = 0;
                const auto reader = [&](size_t first, size_t stretch) {
                    EXPECT_EQ(first, asked);
                    asked += stretch;
                    largest = std::max(largest, stretch);
                    std::fill(piece.begin(), piece.end(), std::numeric_limits<float>::quiet_NaN());
                    piece.assign(b.begin() + static_cast<ptrdiff_t>(first),
                                 b.begin() + static_cast<ptrdiff_t>(first + stretch));
                    return static_cast<const float*>(piece.data());
                };
                gemmPackB(k, type, N, K, reader, ldb, transB, pieces.data(), lease.pool());
                EXPECT_EQ(asked, count);
                if (count > (1 << 19) && K > 2) {  // twice the largest piece of any core
                    EXPECT_LE(largest, count * 2 / 3);
                }
                ASSERT_EQ(0, std::memcmp(whole.data(), pieces.data(), bytes));
            }
    }
}

TEST(KernelsGemm, ActivationAndResidual) {
    InlinePool pool;
    const int M = 21, N = 77, K = 30;
    const Floats a = randomFloats(M * K, 1), b = randomFloats(N * K, 2), r = randomFloats(M * N, 3);
    const Floats expected = reference(M, N, K, a.data(), K, false, b.data(), N, false);
    for (const std::string& isa : availableIsas()) {
        const Kernels& k = selectKernels(isa);
        Floats packed(gemmPackedBytes(k, GemmType::Float, N, K) / 4), c(M * N);
        gemmPackB(k, GemmType::Float, N, K, b.data(), N, false, packed.data(), pool);
        GemmArgs g = productOf(M, N, K, a.data(), packed.data(), c.data(), N);
        g.post.residual = r.data();
        g.post.act = Act::Gelu;
        gemm(k, g, pool);
        for (int i = 0; i < M * N; ++i) {
            const double x = double(expected[i]) + r[i];
            ASSERT_NEAR(c[i], 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))), 1e-5) << isa;
        }
    }
}

// Rows in several chunks, columns in several panels and sums in several slices: each element adds its residual once.
// Sums of small integers are exact.
TEST(KernelsGemm, ResidualOfEveryChunk) {
    ForkJoinPool two(2);
    InlinePool one;
    const int M = 150, N = 77, K = 3000;
    const Floats a = wholeNumbers(size_t(M) * K, 3), b = wholeNumbers(size_t(N) * K, 5), r = wholeNumbers(M * N, 2);
    const Floats expected = reference(M, N, K, a.data(), K, false, b.data(), N, false);
    for (const std::string& isa : availableIsas()) {
        const Kernels k = kernelsWithBf16(isa);
        for (const GemmType type : {GemmType::Float, GemmType::Bf16}) {
            for (int threads = 1; threads <= 2; ++threads) {
                RunLease lease(threads == 1 ? static_cast<ThreadPool&>(one) : two);
                Floats packed(gemmPackedBytes(k, type, N, K) / 4), c(M * N);
                gemmPackB(k, type, N, K, b.data(), N, false, packed.data(), lease.pool());
                GemmArgs g = productOf(M, N, K, a.data(), packed.data(), c.data(), N);
                g.type = type;
                g.post.residual = r.data();
                Floats scratch(gemmScratchBytes(k, g, threads) / 4);
                g.scratch = scratch.data();
                gemm(k, g, lease.pool());
                for (int i = 0; i < M * N; ++i)
                    ASSERT_EQ(c[i], expected[i] + r[i]) << isa << " at " << i / N << "," << i % N;
            }
        }
    }
}

// A single row is multiplied by two panels at a time; more rows by one. Either way an element is the same sum, forwards
// and backwards.
TEST(KernelsGemm, ARowAloneHasTheBitsOfARowAmongOthers) {
    ForkJoinPool two(2);
    InlinePool one;
    const int sizes[][2] = {{1, 1}, {70, 5}, {64, 48}, {301, 77}, {96, 50}, {50, 333}, {129, 16}};
    for (const std::string& isa : availableIsas()) {
        const Kernels& k = selectKernels(isa);
        for (const auto& [N, K] : sizes) {
            const Floats a = randomFloats(2 * K, 1), b = randomFloats(N * K, 2), bias = randomFloats(N, 3),
                         residual = randomFloats(2 * N, 4);
            for (int form = 0; form < 8; ++form) {
                SCOPED_TRACE(isa + " " + std::to_string(N) + "x" + std::to_string(K) + " form " + std::to_string(form));
                RunLease lease(form & 1 ? static_cast<ThreadPool&>(two) : one);
                Floats packed(gemmPackedBytes(k, GemmType::Float, N, K) / 4);
                gemmPackB(k, GemmType::Float, N, K, b.data(), N, false, packed.data(), lease.pool());
                const auto rows = [&](int M, bool backwards) {
                    Floats c(M * N + 1, -77.0f), scratch(16);
                    GemmArgs g = productOf(M, N, K, a.data(), packed.data(), c.data(), N);
                    g.backwards = backwards;
                    g.post.bias = bias.data();
                    g.post.residual = residual.data();
                    g.post.act = form & 4 ? Act::Gelu : Act::None;
                    g.post.hi = 0.5f;
                    g.scratch = scratch.data();
                    gemm(k, g, lease.pool());
                    EXPECT_EQ(c.back(), -77.0f) << "wrote past the row";
                    c.resize(N);
                    return c;
                };
                ASSERT_EQ(0, std::memcmp(rows(2, false).data(), rows(1, form & 2).data(), N * sizeof(float)));
            }
        }
    }
}

// The lines of a result that does not stay in the cache are requested before they are stored, which changes no element
// and no memory beside them.
TEST(KernelsGemm, ResultsThatLeaveTheCache) {
    InlinePool pool;
    for (const std::string& isa : availableIsas()) {
        Kernels near = kernelsWithBf16(isa), far = near;
        CpuCosts costs = *near.costs;
        costs.cache.nearResult = 0;
        far.costs = &costs;
        for (const GemmType type : {GemmType::Float, GemmType::Bf16}) {
            const int M = 23, N = 75, K = 19, ldc = N + 2;
            const Floats a = randomFloats(M * K + 4, 1), b = randomFloats(N * K, 2);
            Floats packed(gemmPackedBytes(near, type, N, K) / 4);
            gemmPackB(near, type, N, K, b.data(), N, false, packed.data(), pool);
            const auto result = [&](const Kernels& k) {
                Floats c(M * ldc, -77.0f);
                GemmArgs g = productOf(M, N, K, a.data(), packed.data(), c.data(), ldc);
                g.type = type;
                Floats scratch(gemmScratchBytes(k, g, 1) / 4);
                g.scratch = scratch.data();
                gemm(k, g, pool);
                return c;
            };
            ASSERT_EQ(0, std::memcmp(result(near).data(), result(far).data(), M * ldc * sizeof(float))) << isa;
        }
    }
}

TEST(KernelsPack, RoundTrips) {
    ForkJoinPool two(2);
    RunLease lease(two);
    ThreadPool& pool = lease.pool();
    for (const std::string& isa : availableIsas()) {
        const Kernels& k = selectKernels(isa);
        const int P = k.lanes;
        for (int channels : {1, 3, 4, 5, 16, 17, 37, 64}) {
            for (size_t area : {size_t(1), size_t(3), size_t(16), size_t(49), size_t(1000)}) {
                SCOPED_TRACE(isa + " " + std::to_string(channels) + " x " + std::to_string(area));
                const int batch = 2;
                const Floats src = randomFloats(batch * channels * area, 5);
                Floats packed(packedFloats(P, batch, channels, area), NAN);
                nchwToPacked(k, src.data(), packed.data(), batch, channels, area, pool);
                const int blocks = (channels + P - 1) / P;
                for (int n = 0; n < batch; ++n) {
                    for (int c = 0; c < blocks * P; ++c) {
                        for (size_t i = 0; i < area; ++i) {
                            const float want = c < channels ? src[(n * channels + c) * area + i] : 0.0f;
                            ASSERT_EQ(packed[((n * blocks + c / P) * area + i) * P + c % P], want);
                        }
                    }
                }
                Floats back(src.size());
                packedToNchw(k, packed.data(), back.data(), batch, channels, area, pool);
                ASSERT_EQ(back, src);
                Floats nhwc(src.size()), packed2(packed.size(), NAN);
                packedToNhwc(k, packed.data(), nhwc.data(), batch, channels, area, pool);
                for (int n = 0; n < batch; ++n) {
                    for (int c = 0; c < channels; ++c) {
                        for (size_t i = 0; i < area; ++i) {
                            ASSERT_EQ(nhwc[(n * area + i) * channels + c], src[(n * channels + c) * area + i]);
                        }
                    }
                }
                nhwcToPacked(k, nhwc.data(), packed2.data(), batch, channels, area, pool);
                ASSERT_EQ(packed2, packed);
            }
        }
    }
}

}  // namespace
}  // namespace mnnc::test
