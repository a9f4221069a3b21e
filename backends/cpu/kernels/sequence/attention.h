// Attention: softmax(scale q k^T + mask) v for every head, by blocks of keys with a running maximum and sum (Milakov
// and Gimelshein, "Online normalizer calculation for softmax", arXiv 1805.02867), so that the matrix of all scores is
// never stored.
//
// Keys and values are packed into the panels of matrix products once a run. The blocks of keys do not depend on the
// number of threads, and neither do the bits of the result.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backend/thread_pool.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/kernels.h"
#include "ops/attention_layout.h"

namespace mnnc {

struct AttentionArgs : AttentionLayout {
    GemmType type = GemmType::Float;  // of the products' operands
};

// The memory of one run.
struct AttentionData {
    const float *q = nullptr, *k = nullptr, *v = nullptr;
    float* out = nullptr;
    const void* steps[kMaxAttentionSteps] = {};  // the operand of each; null: it has none
    const float* sinks = nullptr;                // null: there are none
    void* scratch = nullptr;                     // attentionScratchBytes
};

// Returns the bytes of scratch memory. Throws Overflow, which names `what`.
int64_t attentionScratchBytes(const Kernels& k, const AttentionArgs& args, int threads, const char* what);
void attention(const Kernels& k, const AttentionArgs& args, const AttentionData& data, ThreadPool& pool);

// Scores of some queries for `count` keys; rows are `step` apart. The numbers between `count` and the next whole vector
// have no meaning.
struct ScoreRows {
    float* data;
    size_t step;
    int rows;
    size_t count;
};

// The functions that a thread calls between the products, per instruction set, row by row. Rows of masks are `maskStep`
// apart; 0: all rows have the same mask.
struct AttentionKernels {
    // s = scale s + mask; best: the largest of each row.
    void (*addMask)(const ScoreRows& s, float scale, const float* mask, size_t maskStep, float* best);
    // s = scale s, or `dropped` where (mask != 0) == keepsZeros; best: the largest of each row.
    void (*keepMask)(const ScoreRows& s, float scale, const int32_t* mask, size_t maskStep, float dropped,
                     bool keepsZeros, float* best);
    // Expands the elements of a row for `count` keys from `key` on, which lies in the first of `runs`. Writes up to a
    // vector more.
    void (*expand)(const float* row, const AttentionRun* runs, size_t key, size_t count, float* to);
    // best: the largest of each row, times `scale`, which is not negative.
    void (*largest)(const ScoreRows& s, float scale, float* best);
    // s = e^(scale s - shift of the row); sum: of each row.
    void (*exponentials)(const ScoreRows& s, float scale, const float* shift, float* sum);
    // y *= factor of the row
    void (*multiply)(const ScoreRows& y, const float* factor);
};
const AttentionKernels& attentionKernels(Isa isa);

// Rows that are kept from run to run, one behind another: floats, or halves.
struct KeptRows {
    const void* data;
    size_t depth;  // elements of a row
    size_t count;
    bool halves;
};

// Products of a few rows with kept ones, which are read once for up to four rows and never packed. The results of a row
// do not depend on the others.
struct KeptKernels {
    // s[r][j] = the product of row r of `q` and row j of `keys`.
    void (*scores)(const ScoreRows& q, const KeptRows& keys, float* s, size_t step);
    // y[r][c] = sum of p[r][j] values[j][c], added to y where `adds`. `p` has as many columns as there are values.
    void (*weigh)(const ScoreRows& p, const KeptRows& values, bool adds, float* y, size_t step);
    bool readsHalves;  // otherwise both functions take floats alone
    // Converts halves to floats.
    void (*expand)(const uint16_t* from, size_t count, float* to);
};
const KeptKernels& keptKernels(Isa isa);

}  // namespace mnnc
