// The plans that makeConvPlan chooses from, and what they share.
#pragma once
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/conv.h"

namespace mnnc {

// options.bf16 of these means it: the kernels have such products. Not for first layers and groups.
// Everything that is taps x channels products: 1x1, direct, grouped, first layer, transposed.
std::unique_ptr<ConvPlan> makeProductPlan(const Kernels& k, const ConvShape& shape,
                                          const ConvOptions& options);
// The same for int8 codes with one scale per output channel, of which products are made as they are. Without
// groups; k.codes must be there.
std::unique_ptr<ConvPlan> makeCodePlan(const Kernels& k, const ConvShape& shape, const ConvOptions& options);
std::unique_ptr<ConvPlan> makeDepthwisePlan(const Kernels& k, const ConvShape& shape, bool transposed);
// F(unit x unit, 3x3), unit 2, 4 or 6.
std::unique_ptr<ConvPlan> makeWinogradPlan(const Kernels& k, const ConvShape& shape, int unit,
                                           const ConvOptions& options);

// Into how many chunks F(unit) cuts the tiles of an image: as many tiles at a time as the second level cache holds,
// but enough to fill the product's tiles.
int winogradChunks(const Kernels& k, const ConvShape& shape, int unit);

inline int ceilDiv(int a, int b) {
    return (a + b - 1) / b;
}
// To whole cache lines.
inline size_t roundUpFloats(size_t floats) {
    return (floats + 15) / 16 * 16;
}
// Where piece i of `pieces` equal ones begins.
inline int cut(int total, int i, int pieces) {
    return static_cast<int>(static_cast<long>(total) * i / pieces);
}
// The same where pieces shall be cut between tiles of so many, so that all tiles but the last are full.
inline int cutTiles(int total, int i, int pieces, int tile) {
    const int tiles = ceilDiv(total, tile);
    return tiles < pieces ? cut(total, i, pieces) : std::min(total, cut(tiles, i, pieces) * tile);
}
inline int largestCut(int total, int pieces, int tile) {
    int largest = 0;
    for (int i = 0; i < pieces; ++i)
        largest = std::max(largest, cutTiles(total, i + 1, pieces, tile) - cutTiles(total, i, pieces, tile));
    return largest;
}
// Into how many pieces to cut each of `units` so that the threads have as many tasks, or so many that one more
// or less does not matter.
inline int evenPieces(int units, int mostPieces, int threads) {
    if (threads == 1) return 1;
    int pieces = std::clamp(ceilDiv(4 * threads, units), 1, mostPieces);
    while (units * pieces % threads != 0 && units * pieces < 12 * threads && pieces < mostPieces) ++pieces;
    return pieces;
}

// The bias with zeros behind it, so that kernels read whole blocks.
inline void padBias(const float* bias, int oc, int padded, float* out) {
    if (bias) {
        std::memcpy(out, bias, oc * sizeof(float));
    } else {
        std::fill(out, out + oc, 0.0f);
    }
    std::fill(out + oc, out + padded, 0.0f);
}

}  // namespace mnnc
