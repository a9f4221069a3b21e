// The plans' assumptions about a CPU: how much of its second level cache each of them fills, and how long
// work takes.
//
// The defaults belong to the machine of docs/performance.md, with 1 MiB of second level cache for each core; what is
// marked "measured" was chosen by times of whole nets on it. cost_records.h fits them to other CPUs.
#pragma once
#include <cstdint>

namespace mnnc {

// Bytes of the second level cache.
struct CacheBudget {
    // The part of its input that one task of a float, bf16 or 16-bit product reads again for each panel of
    // weights. Beside it there are two panels, since the next one is prefetched, and the output.
    int64_t gemmInput = 384 << 10;
    // The same for int8, where input before and after widening share the cache.
    int64_t int8Input = 256 << 10;
    // A panel of quantised weights that is expanded to floats or bf16; larger ones are made narrower.
    int64_t dequantizedPanel = 600 << 10;
    // The strip of its input with a border that a first layer copies.
    int64_t firstLayerStrip = 96 << 10;
    // The planes of a strip of a grouped convolution, inputs and outputs.
    int64_t groupedPlanes = 320 << 10;
    // The transforms of a chunk of Winograd tiles, inputs and outputs at all points.
    int64_t winogradTransforms = 512 << 10;
    // The transformed weights that Winograd makes of quantised ones for a panel, a slice of channels at a time.
    int64_t winogradPanel = 300 << 10;
    // The rows of the map between a pointwise and a depthwise convolution that are made at a time.
    int64_t pointwiseDepthwiseStrip = 256 << 10;
    // Weights that are read from the model and packed at a time.
    int64_t packedChunk = 512 << 10;
    // A map of fewer bytes between two operators stays in the cache as a whole: fusing them gains nothing.
    // Measured.
    int64_t minFusedMap = 768 << 10;
};

// Multiply-adds that make a task worth its while, about 2 us on one core.
struct TaskSizes {
    double f32 = 1 << 18;  // bf16 as well
    double s16s8 = 1 << 19;
    double u8s8 = 1 << 20;
    double fetch = 24;  // fetching a weight takes as long as so many multiply-adds
};

// What a step of a tile of products takes. Vectors are those of the instruction set.
struct TileCosts {
    double multiplyAdds = 2, loads = 2;  // in a cycle
    double latency = 4;                  // cycles until a sum can be added to again
    double rowLoads = 1;                 // vectors that are loaded for each row of a step
    double hiddenLoads = 1;              // the part of loads beside multiply-adds that takes no time; none in order
    double weight = 1.7;                 // cycles of a vector of weights from the second level cache
};

// Estimates of cycles, with which implementations of convolutions are compared. Those that decide between Winograd,
// W8A16 and direct products are measured; the estimates of other implementations are only listed, and not calibrated.
struct CycleCosts {
    TileCosts tile;
    // Weights come from memory once per run, at so many bytes a cycle. Products hide little of it: of the
    // shorter of both, this part is added to the longer.
    double weightBytesPerCycle = 9.5;
    double exposedTraffic = 0.8;
    // Expanding a vector of quantised weights, and copying a vector of the input into a map with a border.
    double dequantize = 2.5;
    double copy = 3;
    double gemmOverhead = 1.05;  // of row ends and calls
    // Packed weights are read with this factor on their traffic where products run row by row.
    double rowTraffic = 1.5;
    // W8A16 against Winograd: a vector of the input, read for its scale and rounded.
    double roundRow = 6;
    // W8A16 against expanded weights: rounding a vector of the input, scaling a vector of outputs and a pixel's
    // own scale; the cycles that a product of vectors saves.
    double round = 7.5, rescale = 4.5, pixelScale = 8, w8a16Gain = 0.25;
    // Winograd: a call of a product for a block of outputs; transforms of a vector of inputs and outputs, by
    // unit / 2, and of weights from taps; rounding a vector to bf16; expanding and transforming a vector of quantised
    // weights.
    double winogradCall = 50;
    double winogradIn[4] = {0, 8, 7.5, 9}, winogradOut[4] = {0, 3.5, 7, 5};
    double winogradTaps[4] = {0, 5, 8, 7};
    double winogradRound = 1.5, winogradDequantize = 4.8, winogradDequantizeBf16 = 6;
    // A few outputs: a call of a product, and an output whose lanes are added up and stored.
    double fewOutputsCall = 60, fewOutputsReduce = 9;
    // Int8: a vector of weights that each row of the output reads again from the second level cache. Exact Winograd's
    // transforms of a vector of a tile's input, of one of pairs of weights, and of one of results.
    double int8RowWeight = 2.2;
    double int8WinogradIn = 80, int8WinogradWeights = 140, int8WinogradOut = 175;
    // Bytes of transformed weights that a run may make of quantised ones at once: with several chunks of tiles
    // it makes all of them first.
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
