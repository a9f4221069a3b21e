// Both kinds of attention divide their rows into tasks, which share these limits, and the packing of keys and values.
#pragma once
#include <cstddef>

#include "backends/cpu/kernels/gemm/gemm_panels.h"

namespace mnnc {

constexpr int kMaxAttentionRows = 72;  // the maximum number of rows of a task
// A block of keys whose scores are all lower than the maximum by more than this is left out: e^-88 is smaller than the
// smallest float that changes a sum of 1 or more.
constexpr float kNegligibleScore = 88;

// Packs an operand of N columns and K rows into the panels of gemmOnThread().
inline void packPanels(const Kernels& k, GemmType type, int N, int K, const float* b, size_t ldb, bool transB,
                       void* packed) {
    const GemmPanels panels(k, N);
    for (int i = 0; i < panels.count(); ++i)
        gemmPackPanel(k, type, N, K, b, ldb, transB, panels[i], gemmPanel(k, type, K, panels[i], packed));
}

}  // namespace mnnc
