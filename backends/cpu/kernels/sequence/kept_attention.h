// Attention over keys and values that are kept from run to run (backend/kept_state.h), by blocks of keys with a running
// maximum and sum, like attention.h.
//
// The rows of a task are the queries of all heads that read one head of keys, in the order of the queries. A block of
// keys is a page, so its borders depend neither on the number of threads nor on how tokens are divided into runs.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backend/kept_state.h"
#include "backend/thread_pool.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

struct KeptAttentionArgs {
    GemmType type = GemmType::Float;  // the type of the operands of products
    int rows = 0, heads = 0, keyHeads = 0, depth = 0, valueDepth = 0;
    float scale = 1;
};

// The memory of one run.
struct KeptAttentionData {
    const float *q = nullptr, *k = nullptr, *v = nullptr;  // [row][head][depth]
    const float* mask = nullptr;  // [row][key] of all keys; null: query i sees those up to its own
    float* out = nullptr;
    const KeptState* state = nullptr;  // with room for the rows of the run
    void* scratch = nullptr;           // keptAttentionScratchBytes
};

// Returns the bytes of scratch memory. Throws Overflow, which names `what`.
int64_t keptAttentionScratchBytes(const Kernels& k, const KeptAttentionArgs& args, int threads, const char* what);
// Stores the keys and values behind those of the state, whose length does not change, and computes the attention.
void keptAttention(const Kernels& k, const KeptAttentionArgs& args, const KeptAttentionData& data, ThreadPool& pool);

}  // namespace mnnc
