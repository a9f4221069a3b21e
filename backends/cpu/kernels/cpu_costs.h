// What the plans assume of a CPU: how much of its second level cache each of them fills, and what work costs there.
//
// There is one record for every CPU so far. The numbers were measured on whole nets, on machines with 1 MiB (Zen 4) and
// 512 KiB (Zen 3) of second level cache and 32 KiB of first level cache for each core. Each is a choice of its own:
// code that derives them from the caches of the CPU it runs on replaces `defaultCpuCosts`.
#pragma once
#include <cstdint>

namespace mnnc {

// Bytes of the second level cache.
struct CacheBudget {
    // The part of its input that one task of a float, bf16 or 16-bit product reads again for each panel of weights. The
    // rest of the cache holds two panels, since the next one is prefetched, and the output.
    int64_t gemmInput = 384 << 10;
    // The same for int8. Its panels are small, but its input is widened into scratch first, which takes cache as well.
    int64_t int8Input = 256 << 10;
    // A panel of quantised weights that is expanded to floats or bf16: narrower panels are chosen above. It is written
    // and read once for each task, so that it may take more than a half.
    int64_t dequantizedPanel = 600 << 10;
    // The strip of its input with a border that a first layer copies: it shares the cache with the source and an output
    // of 16 to 64 channels, which is far larger.
    int64_t firstLayerStrip = 96 << 10;
    // The planes of a strip of a grouped convolution, inputs and outputs.
    int64_t groupedPlanes = 320 << 10;
    // The transforms of a chunk of Winograd tiles, inputs and outputs of all points.
    int64_t winogradTransforms = 512 << 10;
    // The transformed weights that Winograd makes of quantised ones for a panel, a slice of channels at a time.
    int64_t winogradPanel = 300 << 10;
    // The rows of the map between a pointwise and a depthwise convolution that are made at a time.
    int64_t pointwiseDepthwiseStrip = 256 << 10;
    // Weights that are read from the model and packed at a time.
    int64_t packedChunk = 512 << 10;
    // A map of fewer bytes between two operators stays in the cache as a whole: fusing them gains nothing.
    int64_t minFusedMap = 768 << 10;
};

// Multiply-adds that make a task worth its while, about 2 us on one core.
struct TaskSizes {
    double f32 = 1 << 18;  // bf16 as well
    double s16s8 = 1 << 19;
    double u8s8 = 1 << 20;
    double fetch = 24;  // fetching a weight takes as long as so many multiply-adds
};

// Estimates of cycles, with which implementations of convolutions are compared.
struct CycleCosts {
    // Weights come from memory once per run, at so many bytes a cycle; products hide a fifth of the shorter of both.
    double weightBytesPerCycle = 9.5;
    double exposedTraffic = 0.8;
    // Cycles to expand a vector of quantised weights, and to pass a vector of the input through a copy with a border.
    double dequantize = 2.5;
    double copy = 3;
    double gemmOverhead = 1.05;  // of row ends and calls
    // 16-bit activations: rounding a vector of the input, once to compare Winograd and once for the choice against
    // expanded weights; scaling a vector of outputs; a pixel's own scale; the gain of a product.
    double roundRow = 6, round = 7.5, rescale = 4.5, pixelScale = 8, w8a16Gain = 0.25;
    // Winograd: a call of a product; transforms of a vector of inputs and outputs, by unit / 2; rounding to bf16; expanding
    // and transforming a vector of quantised weights.
    double winogradCall = 50;
    double winogradIn[4] = {0, 8, 7.5, 9}, winogradOut[4] = {0, 3.5, 7, 5};
    double winogradRound = 1.5, winogradDequantize = 4.8, winogradDequantizeBf16 = 6;
    // The bytes of transformed weights that a run may make of quantised ones at once: with several chunks it makes all of
    // them first.
    double maxWinogradDequantized = 4 << 20;
    // An implementation replaces one before it in the list only if it needs less than this part of its cycles.
    double contest = 0.97;
};

struct CpuCosts {
    CacheBudget cache;
    TaskSizes task;
    CycleCosts cycles;
};

inline constexpr CpuCosts defaultCpuCosts{};

}  // namespace mnnc
