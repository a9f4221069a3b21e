// Binds the memory of tensors and scratch to dispatches.
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

Binding FrameRecorder::bind(const Operand& tensor, bool write) const {
    const DevicePlace& place = frame_.device(tensor);
    if (!place.block) fail(Status::Internal, "tensor '%s' has no memory on the device", tensor.name.c_str());
    const auto& block = static_cast<const Block&>(*place.block);
    // The memory behind a tensor of the host may not be the library's.
    const int64_t bytes = tensor.onDevice ? backend_.storageBytes(tensor) : tensor.storageBytes();
    return bindBlock(block, place.offset, bytes, write);
}

Binding FrameRecorder::scratch(int64_t offset, int64_t bytes, bool write) const {
    const DevicePlace& place = frame_.device(scratch_);
    return bindBlock(static_cast<const Block&>(*place.block), place.offset + offset, bytes, write);
}

}  // namespace mnnc::vulkan
