// Attention: softmax(scale q k^T + mask) v for every head, by blocks of keys with a running maximum and sum
// (Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv 1805.02867), so that no matrix of all
// scores exists.
//
// Keys and values are packed into the panels of matrix products once a run. The blocks of keys do not depend on the
// number of threads, nor does a bit of the result.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backend/thread_pool.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// Rows of one head of one batch entry are contiguous; the steps, in floats, lead from one to the next.
template <typename T>
struct AttentionOperand {
    T* data = nullptr;
    size_t batchStep = 0, rowStep = 0, headStep = 0;
};

struct AttentionArgs {
    GemmType type = GemmType::Float;  // of the products' operands
    int batch = 0, queries = 0, keys = 0, heads = 0, keyHeads = 0, depth = 0, valueDepth = 0;
    float scale = 1;
    AttentionOperand<const float> q, k, v;
    AttentionOperand<float> out;
    // Added to the scores, or (keep) scores stay where it is not 0. Null: none. The column step is 0 or 1.
    AttentionOperand<const float> mask;
    AttentionOperand<const int32_t> keep;
    size_t maskColumnStep = 1;
    const float* sinks = nullptr;  // scores without a value, one for each head, or null
    void* scratch = nullptr;       // attentionScratchBytes
};

// Throws Overflow naming `what`.
int64_t attentionScratchBytes(const Kernels& k, const AttentionArgs& args, int threads, const char* what);
void attention(const Kernels& k, const AttentionArgs& args, ThreadPool& pool);

// What a thread does between the products, per instruction set.
struct AttentionKernels {
    // s = scale s + add; returns the largest.
    float (*addMask)(float* s, const float* add, size_t n, float scale);
    // s = scale s, where keep is 0 the lowest float; returns the largest.
    float (*keepMask)(float* s, const int32_t* keep, size_t n, float scale);
    float (*scale)(float* s, size_t n, float scale);
    // s = e^(s - shift); returns the sum.
    float (*exponentials)(float* s, size_t n, float shift);
    void (*multiply)(float* y, size_t n, float factor);
};
const AttentionKernels& attentionKernels(Isa isa);

}  // namespace mnnc
