// The partition of B of a matrix product into panels. The packing does not depend on M: a constant B serves every batch
// size, and sessions of runtimes with other costs.
#pragma once
#include <type_traits>

#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/gemm/panels.h"

namespace mnnc {

class GemmPanels {
  public:
    GemmPanels(const Kernels& k, int N)
        : blocks_(ceilDiv(N, k.lanes)),
          count_(ceilDiv(blocks_, bestPanelBlocks(TileCosts(), *k.panels, kUsualPixels, blocks_))) {}
    int count() const { return count_; }
    int width(int i) const { return chunkBegin(blocks_, i + 1, count_) - chunkBegin(blocks_, i, count_); }
    OutPanel operator[](int i) const { return {chunkBegin(blocks_, i, count_), width(i)}; }

  private:
    int blocks_, count_;
};

// Returns the rows of B in a packed panel: whole pairs for bf16.
inline int gemmPackedRows(GemmType type, int K) {
    return type == GemmType::Bf16 ? (K + 1) / 2 * 2 : K;
}

// Returns the place of a panel in a packed B.
template <typename Void>  // void or const void
Void* gemmPanel(const Kernels& k, GemmType type, int K, OutPanel p, Void* packed) {
    using Bytes = std::conditional_t<std::is_const_v<Void>, const char, char>;
    return static_cast<Bytes*>(packed) + size_t(p.block) * k.lanes * gemmPackedRows(type, K) *
                                             (type == GemmType::Bf16 ? sizeof(uint16_t) : sizeof(float));
}

// Packs one panel of B (see gemmPackB) to `packed`.
void gemmPackPanel(const Kernels& k, GemmType type, int N, int K, const float* b, size_t ldb, bool transB,
                   OutPanel panel, void* packed);

}  // namespace mnnc
