// Sets the addresses of tensors and scratch.
#include "plan/placements.h"

#include "plan/storage_location.h"

namespace mnnc {

void Placement::bind(const MemoryBases& bases) const noexcept {
    if (onHost) {
        void* memory = bases.host + offset;
        if (tensor)
            tensor->data = memory;
        else
            execution->bindScratch(memory);
        return;
    }
    DeviceBlock* memory = bases.blocks[static_cast<size_t>(block)];
    if (!tensor) return execution->bindScratch(memory, offset);
    tensor->block = memory;
    tensor->blockOffset = offset;
    // What the host and the device exchange lies where both see it.
    if (!tensor->onDevice) tensor->data = static_cast<char*>(memory->host()) + offset;
}

void bindViews(std::span<Tensor* const> views) noexcept {
    for (Tensor* view : views) {
        const StorageLocation place = storageLocation(view);
        view->aliasOf = place.root;  // so that a long chain of views is walked once
        view->aliasOffset = place.offset;
        view->data = place.root->data ? static_cast<char*>(place.root->data) + place.offset : nullptr;
        view->block = place.root->block;
        view->blockOffset = place.root->blockOffset + place.offset;
    }
}

}  // namespace mnnc
