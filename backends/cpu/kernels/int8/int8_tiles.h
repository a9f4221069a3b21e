// The costs of tiles of int8 products.
#pragma once
#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/int8/int8_kernels.h"

namespace mnnc {

// `weight`: cycles of a vector of weights.
inline TileCosts int8Tiles(const CycleCosts& costs, const Int8Kernels& k, double weight) {
    TileCosts tile = costs.tile;
    tile.multiplyAdds /= k.instructions;
    tile.weight = weight;
    return tile;
}

}  // namespace mnnc
