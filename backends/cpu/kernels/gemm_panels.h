// How B of a matrix product is split into panels. The packing does not depend on M: a constant B serves every
// batch size.
#pragma once
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/panels.h"

namespace mnnc {

inline int gemmPanelCount(const Kernels& k, int N) {
    const int blocks = ceilDiv(N, k.lanes);
    return ceilDiv(blocks, bestPanelBlocks(*k.panels, kUsualPixels, blocks));
}

inline OutPanel gemmPanelAt(const Kernels& k, int N, int i) {
    const int panels = gemmPanelCount(k, N), blocks = ceilDiv(N, k.lanes),
              from = chunkBegin(blocks, i, panels);
    return {from, chunkBegin(blocks, i + 1, panels) - from};
}

// Rows of B in a packed panel: whole pairs for bf16.
inline int gemmPackedRows(GemmType type, int K) {
    return type == GemmType::Bf16 ? (K + 1) / 2 * 2 : K;
}

// Packs one panel of B (gemmPackB) to its place in `packed`.
void gemmPackPanel(const Kernels& k, GemmType type, int N, int K, const float* b, size_t ldb, bool transB,
                   OutPanel panel, void* packed);

}  // namespace mnnc
