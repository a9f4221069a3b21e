// Regions as copies between the storages of two tensors: boxes of elements, of quads, or of whole channels.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/operand.h"
#include "tensor/region.h"

namespace mnnc::vulkan {

struct CopyAxis {
    int64_t size = 1, src = 0, dst = 0;
};

// Offsets and strides count elements or quads of the buffers.
struct CopyBox {
    static constexpr size_t kMaxAxes = 4;
    int64_t src = 0, dst = 0;
    std::vector<CopyAxis> axes;  // outermost first, at most kMaxAxes
    int64_t count() const noexcept;
};

// Returns the copy between row-major tensors.
CopyBox elementBox(const Region& region);
// Returns the same copy in quads, where every row starts at a quad and has whole ones.
std::optional<CopyBox> inQuads(const CopyBox& elements);
// Returns the copy between tensors packed by 4, where the region moves whole channel quads.
std::optional<CopyBox> quadBox(const Region& region, const Operand& source, const Operand& destination);

// Returns the copy of whole channels: offsets and strides count channels over all batches.
std::optional<CopyBox> channelBox(const Region& region, const Operand& source, const Operand& destination);

}  // namespace mnnc::vulkan
