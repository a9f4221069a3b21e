// How output channels are cut into panels and what a product costs: shared by convolutions and matrix
// products.
#pragma once
#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/conv_kernels.h"

namespace mnnc {

// Products that make a task worth its while, about 2 us.
constexpr double kTaskProducts = 1 << 18;

// What a task of so many weights and pixels counts as: fetching a weight takes as long as some 24 products.
inline double taskProducts(double weights, double pixels) {
    return weights * std::max(pixels, 24.0);
}

struct OutPanel {
    int block;  // first block of output channels
    int nb;
};

// Cycles of one k step of a tile of R rows and nb blocks: two multiply-adds and two loads a cycle, four
// cycles latency, weights from the second level cache.
inline double tileCycles(int rows, int nb) {
    const double fma = rows * nb / 2.0, loads = (nb == 1 ? rows + 1 : rows + nb) / 2.0;
    return std::max({fma, loads, 4.0, nb * 1.7}) + 0.15;
}

// Cycles per k step for m pixels and `blocks` output blocks cut into panels of at most maxBlocks.
inline double productCycles(const PanelKernels& k, int m, int blocks, int maxBlocks) {
    const int panels = (blocks + maxBlocks - 1) / maxBlocks;
    double sum = 0;
    for (int i = 0; i < panels; ++i) {
        const int nb = blocks * (i + 1) / panels - blocks * i / panels;
        const int tiles = (m + k.maxRows[nb] - 1) / k.maxRows[nb];
        const int low = m / tiles, high = m % tiles;
        sum += high * tileCycles(low + 1, nb) + (tiles - high) * tileCycles(low, nb);
    }
    return sum;
}

// The panel width that is cheapest for m pixels at a time.
inline int bestPanelBlocks(const PanelKernels& k, int m, int blocks) {
    int best = 1;
    double bestCost = 0;
    for (int nb = k.maxPanelBlocks; nb >= 1; --nb) {
        const double cost = productCycles(k, m, blocks, nb);
        // Wide panels read the activations less often: a narrower one must earn its place.
        if (nb == k.maxPanelBlocks || cost < bestCost * 0.98) {
            best = nb;
            bestCost = cost;
        }
    }
    return best;
}

inline std::vector<OutPanel> cutPanels(int firstBlock, int blocks, int maxBlocks) {
    std::vector<OutPanel> out;
    const int panels = (blocks + maxBlocks - 1) / maxBlocks;
    for (int i = 0; i < panels; ++i) {
        const int from = blocks * i / panels;
        out.push_back({firstBlock + from, blocks * (i + 1) / panels - from});
    }
    return out;
}

}  // namespace mnnc
