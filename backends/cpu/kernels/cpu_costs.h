// The plans' assumptions about a CPU: how much of its second level cache each of them fills, and how long work takes.
//
// The defaults belong to the machine of docs/performance.md, with 1 MiB of second level cache for each core; those
// marked "measured" were chosen by times of whole nets on it. cost_records.h fits them to other CPUs.
#pragma once
#include <cstdint>

namespace mnnc {

// Bytes of the second level cache.
struct CacheBudget {
    // The part of its input that one task of a float, bf16 or 16-bit product reads again for each panel of weights. The
    // cache also holds two panels, since the next one is prefetched, and the output.
    int64_t gemmInput = 384 << 10;
    // The same for int8, where the cache holds the input before and after widening.
    int64_t int8Input = 256 << 10;
    // A panel of quantised weights that is expanded to floats or bf16. Larger panels are made narrower.
    int64_t dequantizedPanel = 600 << 10;
    // The strip of its input with a border that a first layer copies.
    int64_t firstLayerStrip = 96 << 10;
    // The planes of a strip of a grouped convolution, inputs and outputs.
    int64_t groupedPlanes = 320 << 10;
    // The transforms of a chunk of Winograd tiles, inputs and outputs at all points.
    int64_t winogradTransforms = 512 << 10;
    // The transformed weights that Winograd makes from quantised ones for a panel, a slice of channels at a time.
    int64_t winogradPanel = 300 << 10;
    // The rows of the map between a pointwise and a depthwise convolution that are computed at a time.
    int64_t pointwiseDepthwiseStrip = 256 << 10;
    // Weights that are read from the model and packed at a time.
    int64_t packedChunk = 512 << 10;
    // A map of fewer bytes between two operators stays in the cache anyway: fusing them gains nothing (measured).
    int64_t minFusedMap = 768 << 10;
    // A row-major result of a product that is larger is requested from memory before it is stored (measured).
    int64_t nearResult = 1 << 20;
};

// The minimum number of multiply-adds that are worth a task, about 2 us on one core.
struct TaskSizes {
    double f32 = 1 << 18;  // bf16 as well
    double s16s8 = 1 << 19;
    double u8s8 = 1 << 20;
    double fetch = 24;  // multiply-adds in the time that it takes to fetch a weight
};

// The costs of a step of a tile of products. Vectors are those of the instruction set.
struct TileCosts {
    double multiplyAdds = 2, loads = 2;  // in a cycle
    double latency = 4;                  // cycles until a sum can be added to again
    double rowLoads = 1;                 // vectors that are loaded for each row of a step
    // the part of loads that multiply-adds hide; 0 on a core that executes in order
    double hiddenLoads = 1;
    double weight = 1.7;  // cycles of a vector of weights from the second level cache
};

// Estimates of cycles, by which implementations of convolutions are compared. costs/calibrate.h lists those that can be
// measured on a machine; the others stay as they are here.
struct CycleCosts {
    TileCosts tile;
    // Weights come from memory once per run. Of the time of reading and the time of products, `exposedTraffic` of the
    // shorter one is added to the longer one, because products hide little of the reading.
    double weightBytesPerCycle = 9.5;
    double exposedTraffic = 0.8;
    // The cost to expand a vector of quantised weights, and to copy a vector of the input into a map with a border.
    double dequantize = 2.5;
    double copy = 3;
    double gemmOverhead = 1.05;  // for ends of rows and calls
    double tap = 12;             // the cost of a tap of a tile, beside its products
    // A factor on the traffic of packed weights where products run row by row.
    double rowTraffic = 1.5;
    // W8A16 against Winograd: the cost to read a vector of the input for its scale and to round it.
    double roundRow = 6;
    // W8A16 against expanded weights: the costs to round a vector of the input, to scale a vector of outputs, and of a
    // pixel's own scale; the cycles that a product of vectors saves.
    double round = 7.5, rescale = 4.5, pixelScale = 8, w8a16Gain = 0.25;
    // Winograd: the cost of a call of a product for a block of outputs, which products row by row have, too; of the
    // transforms of a vector of inputs and outputs, by unit / 2, and of weights from taps; of rounding a vector to
    // bf16; of expanding and transforming a vector of quantised weights.
    double winogradCall = 50;
    double winogradIn[4] = {0, 8, 7.5, 9}, winogradOut[4] = {0, 3.5, 7, 5};
    double winogradTaps[4] = {0, 5, 4, 5};
    double winogradRound = 1.5, winogradDequantize = 4.8, winogradDequantizeBf16 = 6;
    // A few outputs: the cost of a call of a product, and of adding up the lanes of an output and storing it.
    double fewOutputsCall = 60, fewOutputsReduce = 9;
    // Int8: the cost of a vector of weights that each row of the output reads again from the second level cache; and of
    // exact Winograd's transforms of a vector of a tile's input, of a vector of pairs of weights, and of a vector of
    // results.
    double int8RowWeight = 2.2;
    double int8WinogradIn = 80, int8WinogradWeights = 140, int8WinogradOut = 175;
    // The bytes of transformed weights that a run may make from quantised ones at once: where there are several chunks
    // of tiles, it makes all of these weights first.
    double maxWinogradDequantized = 4 << 20;
    // An implementation replaces one before it in the list if it needs less than this part of its cycles.
    double contest = 0.97;
};

struct CpuCosts {
    CacheBudget cache;
    TaskSizes task;
    CycleCosts cycles;
};

}  // namespace mnnc
