// The partition of output channels into panels and the cost of a product, shared by convolutions and matrix products.
#pragma once
#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/out_panel.h"

namespace mnnc {

// Returns the cycles of one k step of a tile of R rows and nb blocks. Its prefetches take about as long as the loads of
// one more row.
inline double tileCycles(const TileCosts& c, int rows, int nb) {
    const double fma = rows * nb / c.multiplyAdds, loads = ((rows + 1) * c.rowLoads + nb) / c.loads;
    const double both = std::max(fma, loads) + (1 - c.hiddenLoads) * std::min(fma, loads);
    return std::max({both, c.latency, nb * c.weight}) + 0.15;
}

// Returns the cycles per k step for m pixels and `blocks` output blocks split into panels of at most maxBlocks.
// `maxRows` is that of PanelKernels or Int8Kernels.
inline double gemmCycles(const TileCosts& costs, const int (&maxRows)[5], int m, int blocks, int maxBlocks) {
    const auto panelCycles = [&](int nb) {
        const int tiles = ceilDiv(m, maxRows[nb]), low = m / tiles, high = m % tiles;
        return high * tileCycles(costs, low + 1, nb) + (tiles - high) * tileCycles(costs, low, nb);
    };
    // Panels have equal widths, or differ by one block.
    const int panels = ceilDiv(blocks, maxBlocks), nb = blocks / panels, wide = blocks % panels;
    return (panels - wide) * panelCycles(nb) + (wide ? wide * panelCycles(nb + 1) : 0.0);
}

inline double gemmCycles(const Kernels& k, int m, int blocks, int maxBlocks) {
    return gemmCycles(k.costs->cycles.tile, k.panels->maxRows, m, blocks, maxBlocks);
}

// The number of pixels for which the width of panels is chosen where one packing serves any number of them.
constexpr int kUsualPixels = 72;

// Returns the panel width that is cheapest for m pixels at a time. `Table`: PanelKernels or Int8Kernels.
template <typename Table>
int bestPanelBlocks(const TileCosts& costs, const Table& k, int m, int blocks) {
    int best = 1;
    double bestCost = 0;
    for (int nb = k.maxPanelBlocks; nb >= 1; --nb) {
        const double cost = gemmCycles(costs, k.maxRows, m, blocks, nb);
        // Wide panels read the activations less often: a narrower one has to be clearly cheaper.
        if (nb == k.maxPanelBlocks || cost < bestCost * 0.98) {
            best = nb;
            bestCost = cost;
        }
    }
    return best;
}

inline int bestPanelBlocks(const Kernels& k, int m, int blocks) {
    return bestPanelBlocks(k.costs->cycles.tile, *k.panels, m, blocks);
}

inline std::vector<OutPanel> splitPanels(int firstBlock, int blocks, int maxBlocks) {
    std::vector<OutPanel> out;
    const int panels = ceilDiv(blocks, maxBlocks);
    for (int i = 0; i < panels; ++i) {
        const int from = chunkBegin(blocks, i, panels);
        out.push_back({firstBlock + from, chunkBegin(blocks, i + 1, panels) - from});
    }
    return out;
}

// Calls add(panel, begin, end) for the panels of a convolution, which read its input channels begin .. end. Where each
// group has whole blocks (`wholeGroups`), panels of at most maxBlocks blocks belong to one group. Otherwise a panel is
// one block, which reads the inputs of every group that it holds; the weights of inputs of another group are zero.
template <typename Add>
void eachGroupPanel(const ConvShape& s, int groups, int lanes, bool wholeGroups, int maxBlocks, Add&& add) {
    const int icg = s.ic / groups, ocg = s.oc / groups, blocks = ceilDiv(ocg, lanes);
    for (int g = 0; wholeGroups && g < groups; ++g)
        for (const OutPanel& o : splitPanels(g * blocks, blocks, maxBlocks)) add(o, g * icg, (g + 1) * icg);
    for (int b = 0; !wholeGroups && b < ceilDiv(s.oc, lanes); ++b) {
        const int last = std::min(s.oc, (b + 1) * lanes) - 1;
        add(OutPanel{b, 1}, b * lanes / ocg * icg, (last / ocg + 1) * icg);
    }
}

// The partition of a product's units (rows, or pixels) and panels into tasks: chunks of units times groups of panels.
struct Split {
    int chunks, groups;
};

struct GemmSize {
    int units;           // rows or pixels
    int64_t cacheUnits;  // units whose input stays in the second level cache while the panels pass by
    int panels;
    double pixels;       // of all units
    double weights;      // of one panel
    double minWork;      // multiply-adds of a task: TaskSizes
    double fetch;        // multiply-adds in the time that it takes to fetch a weight: TaskSizes
    double unitMap = 0;  // elements of the input and the output of a unit
};

inline Split splitGemm(const GemmSize& p, int threads) {
    int chunks = static_cast<int>((p.units + p.cacheUnits - 1) / p.cacheUnits);
    if (threads == 1) return {chunks, 1};
    // Less than a fourth of a task is finished before another thread could start.
    if (p.weights * p.panels * std::max(p.pixels, p.fetch) < p.minWork / 4) return {chunks, 1};
    // Threads that divide the units of a map read the same weights. Threads that divide its channels read memory that
    // other threads wrote.
    const int even = ceilDiv(chunks, threads) * threads;
    if (p.unitMap * p.units > p.weights * p.panels * threads && even <= p.units &&
        p.pixels >= even * kUsualPixels / 2.0)
        chunks = even;
    // A product of one pixel reads little but weights: each thread keeps its part, some of which is in its cache since
    // the last run.
    if (p.pixels == 1 && (p.panels % threads == 0 || p.panels >= 8 * threads)) return {1, threads};
    // Each thread gets equally many tasks, or so many that one more does not matter.
    const auto tasks = [&] { return static_cast<int64_t>(chunks) * p.panels; };
    while (tasks() % threads != 0 && tasks() < int64_t{12} * threads && chunks < p.units) ++chunks;
    const double taskGroups = p.panels * p.weights * std::max(p.pixels / chunks, p.fetch) / p.minWork;
    const int minGroups = std::min(p.panels, ceilDiv(threads, chunks));
    return {chunks, std::max(minGroups, static_cast<int>(std::min(taskGroups, double(p.panels))))};
}

}  // namespace mnnc
