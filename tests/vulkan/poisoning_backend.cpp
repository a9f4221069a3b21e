// The definitions of poisoning_backend.h.
#include "poisoning_backend.h"

#include <cstring>

namespace mnnc::vulkan::test {

namespace {

// Uploads a packed tensor with NaN in its padding lanes, as if they were channels.
class PoisonedUpload final : public VulkanExecution {
  public:
    PoisonedUpload(VulkanBackend& backend, const Operand& host, const Operand& device)
        : VulkanExecution(backend), host_(host), device_(device) {}

    void prepare() override {
        const std::vector<uint32_t> packs{1, kChannelBlock};
        pipeline_ = backend().half(device_) ? &backend().exactPipeline("conversion_down", 2, 64, packs)
                                            : &backend().pipeline("conversion", device_, 2, 64, packs);
        staging_ = backend().allocate(device_.storageElements() * 4, DeviceUse::Upload);
    }
    bool hasHostPart() const override { return true; }
    void beforeSubmit(const Frame& frame) const override {
        const Packed p(device_);
        auto* to = static_cast<char*>(staging_->host());
        const auto* from = static_cast<const char*>(host_.values ? host_.values : frame.data<void>(host_));
        const auto real = static_cast<size_t>(p.c * p.plane * 4);
        const auto all = static_cast<size_t>(p.blocks * kChannelBlock * p.plane * 4);
        for (int64_t n = 0; n < p.n; ++n, to += all, from += real) {
            std::memcpy(to, from, real);
            std::memset(to + real, 0xff, all - real);
        }
    }
    void encode(FrameRecorder& recorder) const override {
        const Packed p(device_);
        const int64_t total = device_.storageElements();
        recorder.dispatch(*pipeline_,
                          {{recorder.reads(static_cast<const Block&>(*staging_)), recorder.writes(device_)}},
                          Push().u(total).u(p.blocks * kChannelBlock).u(p.plane), ceilDiv(total, pipeline_->localSize));
    }

  private:
    const Operand& host_;
    const Operand& device_;
    const Pipeline* pipeline_ = nullptr;
    DeviceBlockPtr staging_;
};

}  // namespace

DeviceBlockPtr PoisoningBackend::allocate(int64_t bytes, DeviceUse use) {
    DeviceBlockPtr block = backend_.allocate(bytes, use);
    if (void* memory = block->host()) std::memset(memory, 0xff, static_cast<size_t>(bytes));
    return block;
}

std::unique_ptr<Execution> PoisoningBackend::createUpload(const Operand& host, const Operand& staging,
                                                          const Operand& device) {
    if (device.channelBlock == 1) return backend_.createUpload(host, staging, device);
    return std::make_unique<PoisonedUpload>(backend_, host, device);
}

}  // namespace mnnc::vulkan::test
