// The common form of ScatterNd and ScatterElements: rows of updates, each with a place in the output.
#pragma once
#include <memory>
#include <vector>

#include "backends/vulkan/vulkan_execution.h"
#include "ops/scatter.h"

namespace mnnc::vulkan {

struct ScatterPlan {
    explicit ScatterPlan(const Command& command);

    const Operand *indices, *updates, *data;  // data: null where the output starts as zeros
    IndexBounds bounds;
    int64_t rows = 0, slice = 1;
    int depth = 1, axis = -1;  // axis: ScatterElements only
    int64_t extent[kMaxRank] = {}, stride[kMaxRank] = {}, size[kMaxRank] = {};
    Scatter reduction = Scatter::Replace;

    // Return the constants and push words of scatter_place.glsl.
    std::vector<uint32_t> placeConstants() const;
    Push placePush() const;
};

// Returns the scratch of a reduction: the sorted list of rows.
int64_t scatterListBytes(const ScatterPlan& plan);
std::unique_ptr<Execution> makeScatterReduction(VulkanBackend& backend, const Command& command);

}  // namespace mnnc::vulkan
