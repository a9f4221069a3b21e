// The kernels that an Arm CPU uses, and products of fp16. The emulator runs it as CPUs with NEON alone, with the dot
// product and fp16, and with all features; on x86 there are no such kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "backend/thread_pool.h"
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/int8/int8_kernels.h"
#include "backends/cpu/processor/cpu_features.h"
#include "float_util.h"

namespace mnnc::test {
namespace {

TEST(KernelsArm, FeaturesHaveNames) {
    CpuFeatures features;
    EXPECT_EQ(describeCpuFeatures(features), "");
    features.neon = features.dotProd = features.i8mm = features.bf16 = features.fp16 = true;
    EXPECT_EQ(describeCpuFeatures(features), "neon dotprod i8mm bf16 fp16");
}

TEST(KernelsArm, ACpuGetsWhatItHas) {
    const CpuFeatures cpu = detectCpuFeatures();
    const Kernels& k = selectKernels();
    if (!cpu.neon) {
        EXPECT_EQ(fp16Kernels(k.id), nullptr);
        EXPECT_EQ(int8Kernels(k.id, Int8Product::Dot), nullptr);
        EXPECT_EQ(int8Kernels(k.id, Int8Product::Matrix), nullptr);
        return;
    }
    EXPECT_STREQ(k.isa, "neon");
    EXPECT_STREQ(k.int8->name, cpu.i8mm ? "i8mm" : cpu.dotProd ? "dotprod" : "portable");
    EXPECT_EQ(k.w8a16 != nullptr, cpu.dotProd);
    const std::string type = k.bf16 ? k.bf16->type : "none";
    EXPECT_EQ(type, cpu.bf16 ? "bf16" : cpu.fp16 ? "fp16" : "none");
    EXPECT_EQ(int8Kernels(k.id, Int8Product::Vnni), nullptr);
}

float roundedToFp16(float x) {
    // Keeps 11 bits of a number in the range of fp16.
    int exponent = 0;
    const float mantissa = std::frexp(x, &exponent);
    const int bits = 11 - std::max(0, -13 - exponent);  // fewer below 2^-14
    return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits)), exponent - bits);
}

// Checks products of random numbers, or of positive ones, whose sums grow.
void checkFp16(const Kernels& k, int M, int N, int K, bool positive, bool transB) {
    SCOPED_TRACE(std::to_string(M) + "x" + std::to_string(N) + "x" + std::to_string(K));
    Floats a = randomFloats(size_t(M) * K, 1), b = randomFloats(size_t(N) * K, 2);
    for (Floats* values : {&a, &b})
        for (float& x : *values) x = positive ? std::abs(x) : x;
    ForkJoinPool two(2);
    InlinePool one;
    Floats first;
    for (int threads = 1; threads <= 2; ++threads) {
        RunLease lease(threads == 1 ? static_cast<ThreadPool&>(one) : two);
        Floats packed(gemmPackedBytes(k, GemmType::Bf16, N, K) / 4), c(size_t(M) * N);
        const size_t ldb = static_cast<size_t>(transB ? K : N);
        gemmPackB(k, GemmType::Bf16, N, K, b.data(), ldb, transB, packed.data(), lease.pool());
        GemmArgs g;
        g.type = GemmType::Bf16;
        g.M = M;
        g.N = N;
        g.K = K;
        g.a = a.data();
        g.lda = static_cast<size_t>(K);
        g.packedB = packed.data();
        g.c = c.data();
        g.ldc = static_cast<size_t>(N);
        Floats scratch(gemmScratchBytes(k, g, threads) / 4);
        g.scratch = scratch.data();
        gemm(k, g, lease.pool());
        for (int m = 0; m < M; ++m)
            for (int n = 0; n < N; ++n) {
                double sum = 0, magnitude = 0;
                for (int i = 0; i < K; ++i) {
                    const float x = roundedToFp16(a[size_t(m) * K + i]);
                    const float y = roundedToFp16(b[transB ? size_t(n) * K + i : size_t(i) * N + n]);
                    sum += double{x} * y;
                    magnitude += std::abs(double{x} * y);
                }
                ASSERT_NEAR(c[size_t(m) * N + n], sum, 2e-3 * magnitude + 1e-6) << m << "," << n;
            }
        if (threads == 1)
            first = c;
        else
            ASSERT_EQ(0, std::memcmp(first.data(), c.data(), c.size() * sizeof(float)));
    }
}

TEST(KernelsArm, Fp16Products) {
    Kernels k = selectKernels();
    k.bf16 = fp16Kernels(k.id);
    if (!detectCpuFeatures().fp16) return;  // the test above states the features of such a CPU
    ASSERT_NE(k.bf16, nullptr);
    const int sizes[][3] = {{1, 1, 1},     {1, 40, 333},  {5, 7, 3},    {17, 65, 40},
                            {50, 33, 129}, {97, 24, 700}, {3, 200, 16}, {40, 47, 2}};
    for (const auto& [M, N, K] : sizes)
        for (const bool positive : {false, true})
            for (const bool transB : {false, true}) checkFp16(k, M, N, K, positive, transB);
}

}  // namespace
}  // namespace mnnc::test
