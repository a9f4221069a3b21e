// Row-major matrix product C[M][N] = post(A x B), vectors along N, A broadcast element by element.
//
// B is prepacked into panels: a constant B once, a computed B into scratch on every call. Each element of C is summed
// over k = 0..K-1 in that order, for any number of threads. A large K is cut into slices, each of which adds to the sum
// of those before.
#pragma once
#include <cstddef>

#include "backend/thread_pool.h"
#include "backends/cpu/kernels/conv_plan.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// The element type of the operands of products. Bf16 needs Kernels::bf16, whose products may be of fp16 with short sums
// in fp16; A and C stay float.
enum class GemmType { Float, Bf16 };

size_t gemmPackedBytes(const Kernels& k, GemmType type, int N, int K);

// Packs B, which is K x N with leading dimension ldb, or N x K when transB (the usual layout of a fully connected
// weight).
void gemmPackB(const Kernels& k, GemmType type, int N, int K, const float* b, size_t ldb, bool transB, void* packed,
               ThreadPool& pool);
// Does the same with a B that is read in pieces which stay in the second level cache.
void gemmPackB(const Kernels& k, GemmType type, int N, int K, const WeightReader& b, size_t ldb, bool transB,
               void* packed, ThreadPool& pool);

struct GemmArgs {
    GemmType type = GemmType::Float;
    int M = 0, N = 0, K = 0;
    const float* a = nullptr;  // M x K, leading dimension lda; K x M when transA
    size_t lda = 0;
    bool transA = false;
    const void* packedB = nullptr;
    float* c = nullptr;
    size_t ldc = 0;
    PostOps post;                    // bias has N floats; residual is laid out like C
    const float* rowBias = nullptr;  // M floats, one per row of C: not with act or clamp
    void* scratch = nullptr;         // gemmScratchBytes
    // Float products on one thread: take the last panel first. A product of few rows reads little but B. If every
    // second run goes backwards, it begins with the part of B that is still in the cache.
    bool backwards = false;
};

// Returns the scratch for a pool of up to that many threads.
size_t gemmScratchBytes(const Kernels& k, const GemmArgs& args, int threads);
void gemm(const Kernels& k, const GemmArgs& args, ThreadPool& pool);
// Computes the same bits on the calling thread, with neither transA nor rowBias; `scratch` has
// gemmOnThreadScratchBytes.
void gemmOnThread(const Kernels& k, const GemmArgs& args);
size_t gemmOnThreadScratchBytes(GemmType type, int M, int K);

// `count` independent products of one shape (attention): product i takes a + aStep*i, bStep*i and so on; B is unpacked
// (K x N, or N x K with transB) and packed into scratch. The products are divided among threads first, so that each
// stays in one thread's cache.
struct BatchedGemmArgs {
    GemmType type = GemmType::Float;
    int count = 0, M = 0, N = 0, K = 0;
    const float* a = nullptr;
    size_t lda = 0;
    bool transA = false;
    const float* b = nullptr;
    size_t ldb = 0;
    bool transB = false;
    float* c = nullptr;
    size_t ldc = 0;
    // The offsets of product i in floats; null: i times the step.
    const size_t* aOffsets = nullptr;
    const size_t* bOffsets = nullptr;
    const size_t* cOffsets = nullptr;
    size_t aStep = 0, bStep = 0, cStep = 0;
    PostOps post;  // bias, clamp and act; no residual
    void* scratch = nullptr;
};
// Returns whether batchedGemm() is also best for a single product whose B is not packed: its rows stay in the cache
// while panels of B are packed and multiplied one by one. With more rows it pays to pack B completely first.
bool gemmPacksAsItGoes(const Kernels& k, const BatchedGemmArgs& product);
size_t batchedGemmScratchBytes(const Kernels& k, const BatchedGemmArgs& args, int threads);
void batchedGemm(const Kernels& k, const BatchedGemmArgs& args, ThreadPool& pool);

}  // namespace mnnc
