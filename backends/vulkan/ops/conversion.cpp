// Executions that convert tensors between host and device storage.
#include "backends/vulkan/ops/conversion.h"

#include <cstring>

namespace mnnc::vulkan {

namespace {

// Converts a tensor of the host: its bytes pass through staging memory.
class Upload final : public Conversion {
  public:
    Upload(VulkanBackend& backend, const Operand& host, const Operand& staging, const Operand& device)
        : Conversion(backend, host, device), staging_(staging) {}
    bool hasHostPart() const override { return true; }
    const Operand* movable() const override {
        const Operand* root = &from_;
        while (root->aliasOf) root = root->aliasOf;
        return root->usage == Usage::Input ? &staging_ : nullptr;
    }
    void beforeSubmit(const Frame& frame) const override {
        void* staging = frame.data<void>(staging_);
        if (!staging) return;  // the device already has the values
        const void* from = from_.values ? from_.values : frame.data<const void>(from_);
        std::memcpy(staging, from, static_cast<size_t>(from_.storageBytes()));
    }

  private:
    const Operand& source() const override { return staging_; }
    const Operand& staging_;
};

}  // namespace

// Returns whether both storages have the same order. Single elements of whole channel quads have the same order packed
// and row-major.
bool Conversion::alike() const {
    return from_.channelBlock == to_.channelBlock ||
           (packed().plane() == 1 && packed().shape.at(1) % kChannelBlock == 0);
}

// Returns whether the host's side ends within a quad. The rest of that quad must not be touched, so the side is treated
// as row-major with one pixel, whose channels are all elements.
bool Conversion::hasRest() const {
    return alike() && !(from_.onDevice && to_.onDevice) && to_.elements() % kChannelBlock != 0;
}

void Conversion::prepare() {
    std::vector<uint32_t> packs{1, 1};
    if (hasRest())
        packs = {from_.onDevice ? 4u : 1u, to_.onDevice ? 4u : 1u};
    else if (!alike())
        packs = {static_cast<uint32_t>(from_.channelBlock), static_cast<uint32_t>(to_.channelBlock)};
    const bool fromHalf = backend().half(from_), toHalf = backend().half(to_);
    if (fromHalf != toHalf)
        pipeline_ = &backend().exactPipeline(fromHalf ? "conversion_up" : "conversion_down", 2, kLocal, packs);
    else
        pipeline_ = &backend().pipeline("conversion", to_, 2, kLocal, packs);
}

void Conversion::encode(FrameRecorder& recorder) const {
    Push push;
    const int64_t quads = ceilDiv(packed().storageElements(), kChannelBlock);
    push.u(quads);
    if (hasRest())
        push.u(to_.elements(), 1);
    else if (alike())
        push.u(1, 1);
    else
        push.u(packed().shape.at(1), packed().plane());
    recorder.dispatch(*pipeline_, {{recorder.reads(source()), recorder.writes(to_)}}, push,
                      ceilDiv(quads, pipeline_->localSize));
}

std::unique_ptr<Execution> VulkanBackend::createUpload(const Operand& host, const Operand& staging,
                                                       const Operand& device) {
    return std::make_unique<Upload>(*this, host, staging, device);
}

std::unique_ptr<Execution> VulkanBackend::createDownload(const Operand& device, const Operand& host) {
    return std::make_unique<Conversion>(*this, device, host);
}

}  // namespace mnnc::vulkan
