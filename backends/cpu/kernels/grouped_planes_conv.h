// Group convolutions whose groups are smaller than a vector: computed over planes, whole vectors of pixels.
#pragma once
#include <memory>

#include "backends/cpu/kernels/conv.h"

namespace mnnc {

// Whether planes are the better way: forward, more than one group, groups that do not fill blocks.
bool groupedOverPlanes(const Kernels& k, const ConvShape& shape, int groups);

std::unique_ptr<ConvPlan> makeGroupedPlan(const Kernels& k, const ConvShape& shape, int groups, int threads);

}  // namespace mnnc
