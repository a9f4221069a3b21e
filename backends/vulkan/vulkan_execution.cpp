// Binds the memory of tensors and scratch to dispatches.
#include "backends/vulkan/vulkan_execution.h"

#include <algorithm>

namespace mnnc::vulkan {

Binding FrameRecorder::bind(const Operand& tensor, bool write) const {
    const DevicePlace& place = frame_.device(tensor);
    if (!place.block) fail(Status::Internal, "tensor '%s' has no memory on the device", tensor.name.c_str());
    const auto& block = static_cast<const Block&>(*place.block);
    // The memory behind a tensor of the host may not be the library's.
    const int64_t bytes = tensor.onDevice ? backend_.storageBytes(tensor) : tensor.storageBytes();
    return bindBlock(block, place.offset, bytes, write);
}

Binding FrameRecorder::readsFrom(const Operand& tensor) const {
    Binding binding = bind(tensor, false);
    const DevicePlace& place = frame_.device(tensor);
    const int64_t bytes = static_cast<const Block&>(*place.block).bytes() - place.offset;
    binding.bytes = std::min(bytes, backend_.limits().storageRange);
    return binding;
}

Binding FrameRecorder::scratch(int64_t offset, int64_t bytes, bool write) const {
    const DevicePlace& place = frame_.device(scratch_);
    return bindBlock(static_cast<const Block&>(*place.block), place.offset + offset, bytes, write);
}

}  // namespace mnnc::vulkan
