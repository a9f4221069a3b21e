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

void bindViews(Frame& frame, std::span<Tensor* const> views) noexcept {
    for (Tensor* view : views) {
        const StorageLocation place = storageLocation(view);
        view->aliasOf = place.root;  // so that a long chain of views is walked once
        view->aliasOffset = place.offset;
        const Tensor& root = *place.root;
        char* data =
            root.values ? static_cast<char*>(const_cast<void*>(root.values)) : frame.data<char>(root);
        frame.place(view->number, data ? data + place.offset : nullptr);
        const DevicePlace& device = frame.device(root);
        frame.place(view->number, DevicePlace{device.block, device.offset + place.offset});
    }
}

}  // namespace mnnc
