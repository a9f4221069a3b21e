// The plan of the Winograd implementations, and its partition of the tiles of a batch.
#pragma once
#include <memory>

#include "backends/cpu/kernels/conv/conv.h"
#include "backends/cpu/kernels/winograd/winograd_kernels.h"

namespace mnnc {

// Returns whether a form multiplies bf16.
bool winogradUsesBf16(const Kernels& k, const ConvShape& shape, const ConvOptions& options, WinogradForm form);

// How weights are stored. Transformed, they are up to seven times as large as their taps.
enum class WinogradTaps {
    Transformed,  // stored transformed when they are packed
    InPanels,     // stored as taps: each run transforms one panel at a time, for all tiles
    AtOnce,       // stored as taps: each run transforms all of them first
};
WinogradTaps winogradTaps(const Kernels& k, const ConvShape& shape, const ConvOptions& options, WinogradForm form);

// Returns whether input and output have one block of channels each, which are multiplied by a kernel that keeps the
// weights of a point in registers.
bool winogradMultipliesBlock(const Kernels& k, const ConvShape& shape, const ConvOptions& options, WinogradForm form);

// Returns the minimum number of chunks of the tiles of a batch: each chunk's transforms fit the second level cache and
// still fill the tiles of products.
int winogradChunkCount(const Kernels& k, const ConvShape& shape, WinogradForm form);

// The partition of the tiles of a batch into chunks, which may hold tiles of several images.
struct WinogradChunks {
    int tilesW, tiles;  // of an image
    int chunkTiles, chunks;
    int step = 1;          // the tiles of a chunk are a multiple of this number
    bool byRows = false;   // the input comes from a RowSource
    size_t rowFloats = 0;  // floats of a block's rows that a chunk reads from the RowSource
};

WinogradChunks cutWinogradTiles(const Kernels& k, const ConvShape& shape, WinogradForm form,
                                const ConvOptions& options);

std::unique_ptr<ConvPlan> makeWinogradPlan(const Kernels& k, const ConvShape& shape, WinogradForm form,
                                           const ConvOptions& options);

}  // namespace mnnc
