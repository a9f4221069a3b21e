// How output channels are cut into panels and what a product costs: shared by convolutions and matrix
// products.
#pragma once
#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/conv_kernels.h"

namespace mnnc {

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
inline double gemmCycles(const PanelKernels& k, int m, int blocks, int maxBlocks) {
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
        const double cost = gemmCycles(k, m, blocks, nb);
        // Wide panels read the activations less often: a narrower one must earn its place.
        if (nb == k.maxPanelBlocks || cost < bestCost * 0.98) {
            best = nb;
            bestCost = cost;
        }
    }
    return best;
}

inline std::vector<OutPanel> splitPanels(int firstBlock, int blocks, int maxBlocks) {
    std::vector<OutPanel> out;
    const int panels = (blocks + maxBlocks - 1) / maxBlocks;
    for (int i = 0; i < panels; ++i) {
        const int from = blocks * i / panels;
        out.push_back({firstBlock + from, blocks * (i + 1) / panels - from});
    }
    return out;
}

// How a product's units (rows, or pixels) and panels are cut into tasks.
struct Split {
    int chunks, groups;
};

// What a product is made of, as far as the cut is concerned.
struct GemmSize {
    int units;  // rows or pixels
    long fit;   // units whose input stays in the second level cache while the panels pass by
    int panels;
    double pixels;   // of all units
    double weights;  // of one panel
    double perTask;  // products that make a task worth its while, about 2 us
};

inline Split splitGemm(const GemmSize& p, int threads) {
    constexpr double kFetch = 24;  // fetching a weight takes as long as so many products
    int chunks = static_cast<int>((p.units + p.fit - 1) / p.fit);
    if (threads == 1) return {chunks, 1};
    // As many tasks for each thread, or so many that one more does not matter.
    const auto tasks = [&] { return static_cast<long>(chunks) * p.panels; };
    while (tasks() % threads != 0 && tasks() < 12L * threads && chunks < p.units) ++chunks;
    const double worth = p.panels * p.weights * std::max(p.pixels / chunks, kFetch) / p.perTask;
    const int least = std::min(p.panels, (threads + chunks - 1) / chunks);
    return {chunks, std::max(least, static_cast<int>(std::min(worth, double(p.panels))))};
}

}  // namespace mnnc
