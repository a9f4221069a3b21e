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
#include <vector>

#include "backend/thread_pool.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// Where an operand of every head lies in its tensor; those of all entries of the batch are counted one after another. Steps
// are in elements.
struct AttentionOperand {
    std::vector<size_t>
        heads;  // where the operand of each head begins; none: all of them at the tensor's beginning
    size_t rowStep = 0;         // from one row, whose elements are neighbours, to the next
    size_t at(int head) const { return heads.empty() ? 0 : heads[static_cast<size_t>(head)]; }
};

// Elements of a mask's row for neighbouring keys, from this one to that of the next run: element `place` for all of them, or
// (step 1) the elements from there on.
struct AttentionRun {
    int32_t key = 0, place = 0, step = 0;
};

// What happens to scaled scores between the products. Rows of an operand belong to queries, columns to keys.
struct AttentionStep {
    enum class Kind {
        Multiply,  // by a number for each head; without an operand: by `scale` alone
        Add,
        Keep,  // those where an int32 is not 0; where it is, or the other way round, scores become `dropped`
    } kind = Kind::Multiply;
    float scale = 1;  // of the scores before
    AttentionOperand operand;
    size_t columnStep = 1;           // 0 or 1
    std::vector<AttentionRun> runs;  // instead of the step, with one more behind all keys
    float dropped = std::numeric_limits<float>::lowest();
    bool keepsZeros = false;
};

constexpr size_t kMaxAttentionSteps = 8;

struct AttentionArgs {
    GemmType type = GemmType::Float;  // of the products' operands
    int heads = 0, share = 1;         // `share` neighbouring heads have the same keys and values
    int queries = 0, keys = 0, depth = 0, valueDepth = 0;
    float scale = 1;  // of the scores before their softmax, after all steps
    AttentionOperand q, k, v, out;
    // Rows are a value of all queries, or keys, and not the values of one of them.
    bool queriesTransposed = false, keysTransposed = false, valuesTransposed = false, outTransposed = false;
    std::vector<AttentionStep> steps;  // kMaxAttentionSteps at most
    AttentionOperand sinks;            // a score without a value for each head
};

// The memory of one run.
struct AttentionData {
    const float *q = nullptr, *k = nullptr, *v = nullptr;
    float* out = nullptr;
    const void* steps[kMaxAttentionSteps] = {};  // the operand of each; null: it has none
    const float* sinks = nullptr;                // null: there are none
    void* scratch = nullptr;                     // attentionScratchBytes
};

// Throws Overflow naming `what`.
int64_t attentionScratchBytes(const Kernels& k, const AttentionArgs& args, int threads, const char* what);
void attention(const Kernels& k, const AttentionArgs& args, const AttentionData& data, ThreadPool& pool);

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
    // The elements of a row for `count` keys from this one on, whose run is the first. Writes up to a vector more.
    void (*expand)(const float* row, const AttentionRun* runs, size_t key, size_t count, float* to);
    // best: the largest of each row, times `scale`, which is not negative.
    void (*largest)(const ScoreRows& s, float scale, float* best);
    // s = e^(scale s - shift of the row); sum: of each row.
    void (*exponentials)(const ScoreRows& s, float scale, const float* shift, float* sum);
    // y *= factor of the row
    void (*multiply)(const ScoreRows& y, const float* factor);
};
const AttentionKernels& attentionKernels(Isa isa);

}  // namespace mnnc
