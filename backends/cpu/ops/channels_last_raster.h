// Rasters between maps whose channels come last, row-major, and channel-packed maps: they move whole vectors. A
// transposition followed by a change of storage would move single elements twice.
#pragma once
#include "backends/cpu/cpu_backend.h"

namespace mnnc::cpu {

// Returns the storage for such a Raster; {1, 1} for every other one.
StorageChoice channelsLastStorage(const CpuBackend& backend, const Command& command);

// Returns null where the operands are not stored in this way.
std::unique_ptr<Execution> createChannelsLastRaster(CpuBackend& backend, const Command& command);

}  // namespace mnnc::cpu
