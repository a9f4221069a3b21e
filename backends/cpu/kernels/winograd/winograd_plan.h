// The plan of the Winograd implementations, and its partition of the tiles of a batch.
#pragma once
#include <memory>

#include "backends/cpu/kernels/conv/conv.h"

namespace mnnc {

// Returns whether F(unit) multiplies bf16.
bool winogradUsesBf16(const Kernels& k, const ConvShape& shape, const ConvOptions& options, int unit);

// The form in which weights of F(unit) are stored. Transformed, they are up to seven times as large as their taps.
enum class WinogradTaps {
    Transformed,  // stored transformed when they are packed
    InPanels,     // stored as taps: each run transforms one panel at a time, for all tiles
    AtOnce,       // stored as taps: each run transforms all of them first
};
WinogradTaps winogradTaps(const Kernels& k, const ConvShape& shape, const ConvOptions& options, int unit);

// Returns the minimum number of chunks of the tiles of a batch: each chunk's transforms fit the second level cache and
// still fill the tiles of products.
int winogradChunkCount(const Kernels& k, const ConvShape& shape, int unit);

// The partition of the tiles of a batch into chunks, which may hold tiles of several images.
struct WinogradChunks {
    int tilesW, tiles;  // of an image
    int chunkTiles, chunks;
    int step = 1;          // the tiles of a chunk are a multiple of this number
    bool byRows = false;   // the input comes from a RowSource
    size_t rowFloats = 0;  // floats of a block's rows that a chunk reads from the RowSource
};

WinogradChunks cutWinogradTiles(const Kernels& k, const ConvShape& shape, int unit, const ConvOptions& options);

std::unique_ptr<ConvPlan> makeWinogradPlan(const Kernels& k, const ConvShape& shape, int unit,
                                           const ConvOptions& options);

}  // namespace mnnc
