// Enters the places of operands into a frame.
#include "plan/placements.h"

#include "plan/storage_location.h"

namespace mnnc {

void Placement::bind(Frame& frame, const MemoryBases& bases) const noexcept {
    if (onHost) return frame.place(operand, bases.host + offset);
    DeviceBlock* memory = bases.blocks[static_cast<size_t>(block)];
    frame.place(operand, DevicePlace{memory, offset});
    if (hostSeesIt) frame.place(operand, static_cast<char*>(memory->host()) + offset);
}

std::vector<PlacedView> placedViews(std::span<Operand* const> views) {
    std::vector<PlacedView> placed;
    for (Operand* view : views) {
        const StorageLocation place = storageLocation(view);
        placed.push_back({view->number, place.root->number, place.offset, place.root->values});
    }
    return placed;
}

void bindViews(Frame& frame, std::span<const PlacedView> views) noexcept {
    for (const PlacedView& view : views) {
        void* root = view.values ? const_cast<void*>(view.values) : frame.data(view.root);
        frame.place(view.operand, root ? static_cast<char*>(root) + view.offset : nullptr);
        const DevicePlace& device = frame.device(view.root);
        frame.place(view.operand, DevicePlace{device.block, device.offset + view.offset});
    }
}

}  // namespace mnnc
