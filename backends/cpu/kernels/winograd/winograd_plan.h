// The plan under the Winograd implementations, and how it cuts the tiles of a batch.
#pragma once
#include <memory>

#include "backends/cpu/kernels/conv/conv.h"

namespace mnnc {

// Whether F(unit) multiplies bf16.
bool winogradUsesBf16(const Kernels& k, const ConvShape& shape, const ConvOptions& options, int unit);

// How weights of F(unit) are stored, which are up to seven times as large transformed as their taps.
enum class WinogradTaps {
    Transformed,  // when they are packed
    InPanels,     // as taps: each run transforms a panel when it is its turn, for all tiles
    AtOnce,       // as taps: each run transforms all of them first
};
WinogradTaps winogradTaps(const Kernels& k, const ConvShape& shape, const ConvOptions& options, int unit);

// Into how many chunks the tiles of a batch are cut at least: each chunk's transforms fit the second level
// cache and still fill the tiles of products.
int winogradChunkCount(const Kernels& k, const ConvShape& shape, int unit);

// How the tiles of a batch are cut into chunks, which images share.
struct WinogradChunks {
    int tilesW, tiles;  // of an image
    int chunkTiles, chunks;
    int step = 1;          // chunks are whole multiples of so many tiles
    bool byRows = false;   // the input is a RowSource's
    size_t rowFloats = 0;  // of a block's rows that a chunk reads from it
};

WinogradChunks cutWinogradTiles(const Kernels& k, const ConvShape& shape, int unit, const ConvOptions& options);

std::unique_ptr<ConvPlan> makeWinogradPlan(const Kernels& k, const ConvShape& shape, int unit,
                                           const ConvOptions& options);

}  // namespace mnnc
