// Attention: softmax(scale q k^T + mask) v for every head, by blocks of keys with a running maximum and sum
// (Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv 1805.02867), so that no matrix of all
// scores exists.
//
// Keys and values are packed into the panels of matrix products once a run. The blocks of keys do not depend on the
// number of threads, nor does a bit of the result.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

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

// What is done to the scores; its rows belong to queries.
template <typename T>
struct AttentionMask : AttentionOperand<const T> {
    size_t columnStep = 1;  // 0 or 1
};

struct AttentionArgs {
    GemmType type = GemmType::Float;  // of the products' operands
    int batch = 0, queries = 0, keys = 0, heads = 0, keyHeads = 0, depth = 0, valueDepth = 0;
    float scale = 1;
    AttentionOperand<const float> q, k, v;
    // Rows of k, or of v, are a value of all keys, and not the values of one key.
    bool keysTransposed = false, valuesTransposed = false;
    AttentionOperand<float> out;
    AttentionMask<float> masks[2];  // added to the scores; without data: none, and none behind it
    // Scores become `dropped` where it is 0, or (keepsZeros) where it is not. Without data: none do.
    AttentionMask<int32_t> keep;
    float dropped = std::numeric_limits<float>::lowest();
    bool keepsZeros = false;
    const float* sinks = nullptr;  // scores without a value, one for each head, or null
    void* scratch = nullptr;       // attentionScratchBytes
};

// Throws Overflow naming `what`.
int64_t attentionScratchBytes(const Kernels& k, const AttentionArgs& args, int threads, const char* what);
void attention(const Kernels& k, const AttentionArgs& args, ThreadPool& pool);

// Scores of some queries for `count` keys; rows are `step` apart. Between `count` and the next whole vector there are
// numbers without a meaning.
struct ScoreRows {
    float* data;
    size_t step;
    int rows;
    size_t count;
};

// What a thread does between the products, per instruction set, row by row. Rows of masks are `maskStep` apart; 0: all
// rows have the same.
struct AttentionKernels {
    // s = scale s + mask; best: the largest of each row.
    void (*addMask)(const ScoreRows& s, float scale, const float* mask, size_t maskStep, float* best);
    // s = scale s, or `dropped` where (mask != 0) == keepsZeros; the same.
    void (*keepMask)(const ScoreRows& s, float scale, const int32_t* mask, size_t maskStep, float dropped,
                     bool keepsZeros, float* best);
    // best: the largest of each row, times `scale`, which is not negative.
    void (*largest)(const ScoreRows& s, float scale, float* best);
    // s = e^(scale s - shift of the row); sum: of each row.
    void (*exponentials)(const ScoreRows& s, float scale, const float* shift, float* sum);
    // y *= factor of the row
    void (*multiply)(const ScoreRows& y, const float* factor);
};
const AttentionKernels& attentionKernels(Isa isa);

}  // namespace mnnc
