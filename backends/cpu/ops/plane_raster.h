// Rasters between packed tensors whose regions move whole channel planes.
#pragma once
#include "backends/cpu/cpu_backend.h"

namespace mnnc::cpu {

// Returns whether all tensors have the same plane and every region moves whole planes.
bool movesPlanes(const Command& command);

std::unique_ptr<Execution> createPlaneRaster(const CpuBackend& backend, const Command& command);

}  // namespace mnnc::cpu
