// Brings the parameters of ScatterNd and ScatterElements to one form.
#include "backends/vulkan/ops/scatter_plan.h"

#include <algorithm>

#include "tensor/region_builder.h"

namespace mnnc::vulkan {

ScatterPlan::ScatterPlan(const Command& command) {
    if (command.type == OpType::ScatterNd) {
        const auto& p = command.paramsAs<ScatterNdParams>();
        indices = command.inputs[0];
        updates = command.inputs[1];
        data = command.inputs.size() > 2 ? command.inputs[2] : nullptr;
        bounds = p.bounds;
        rows = p.rows;
        slice = p.slice;
        depth = p.bounds.depth;
        for (int j = 0; j < depth; ++j) {
            extent[j] = p.bounds.extent[j];
            stride[j] = p.slice > 0 ? p.stride[j] / p.slice : 0;
        }
        reduction = p.reduction;
        return;
    }
    const auto& p = command.paramsAs<ScatterElementsParams>();
    data = command.inputs[0];
    indices = command.inputs[1];
    updates = command.inputs[2];
    bounds = IndexBounds::ofAxis(data->shape[p.axis]);
    rows = indices->shape.elements();
    depth = data->shape.rank();
    axis = p.axis;
    const Strides strides = rowMajorStrides(data->shape);
    for (int j = 0; j < depth; ++j) {
        extent[j] = data->shape[j];
        stride[j] = strides[static_cast<size_t>(j)];
        size[j] = indices->shape[j];
    }
    reduction = p.reduction;
}

std::vector<uint32_t> ScatterPlan::placeConstants() const {
    return {static_cast<uint32_t>(depth), axis >= 0, static_cast<uint32_t>(std::max(axis, 0))};
}

Push ScatterPlan::placePush() const {
    Push push;
    push.u(rows);
    for (const int64_t one : extent) push.u(one);
    for (const int64_t one : stride) push.u(one);
    for (const int64_t one : size) push.u(one);
    return push;
}

}  // namespace mnnc::vulkan
