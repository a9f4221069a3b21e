// Rasters between maps whose channels come last, row-major, and channel-packed maps: whole vectors move, where a
// transposition and a change of storage one after the other would move single elements twice.
#pragma once
#include "backends/cpu/cpu_backend.h"

namespace mnnc::cpu {

// The storage for such a Raster; {1, 1} for every other one.
StorageChoice channelsLastStorage(const CpuBackend& backend, const Command& command);

// Null where its operands are not stored so.
std::unique_ptr<Execution> createChannelsLastRaster(CpuBackend& backend, const Command& command);

}  // namespace mnnc::cpu
