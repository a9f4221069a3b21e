// A Vulkan backend whose fresh memory and padding lanes hold NaN, so that a kernel that reads memory before it is
// written gives wrong results.
#pragma once
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan::test {

class PoisoningBackend final : public DeviceBackend {
  public:
    explicit PoisoningBackend(VulkanBackend& backend) : backend_(backend) {}

    const char* name() const noexcept override { return backend_.name(); }
    bool supports(const Command& command, std::string& reason) const override {
        return backend_.supports(command, reason);
    }
    bool narrowsFloats() const noexcept override { return backend_.narrowsFloats(); }
    StorageChoice chooseStorage(const Command& command) const override { return backend_.chooseStorage(command); }
    std::unique_ptr<Execution> create(const Command& command, std::string& reason) override {
        return backend_.create(command, reason);
    }
    DeviceBackend* device() noexcept override { return this; }
    const void* identity() const noexcept override { return backend_.identity(); }
    int64_t storageBytes(const Operand& tensor) const override { return backend_.storageBytes(tensor); }
    int64_t alignment() const noexcept override { return backend_.alignment(); }
    int64_t bindableBytes() const noexcept override { return backend_.bindableBytes(); }
    void requireUsable() const override { backend_.requireUsable(); }
    DeviceBlockPtr allocate(int64_t bytes, DeviceUse use) override;
    DeviceBlockPtr share(const SharedBuffer& buffer, int64_t bytes) override { return backend_.share(buffer, bytes); }
    SharedBuffer describe(const DeviceBlock& block, int64_t offset, int64_t bytes,
                          SharedBuffer::Kind kind) const override {
        return backend_.describe(block, offset, bytes, kind);
    }
    std::unique_ptr<BlockCopy> createCopy(const DeviceBlock& from, const DeviceBlock& to, int64_t bytes) override {
        return backend_.createCopy(from, to, bytes);
    }
    std::unique_ptr<Execution> createUpload(const Operand& host, const Operand& staging,
                                            const Operand& device) override;
    std::unique_ptr<Execution> createDownload(const Operand& device, const Operand& host) override {
        return backend_.createDownload(device, host);
    }
    std::unique_ptr<Recording> record(std::span<const DeviceStep> steps, const Frame& frame) override {
        return backend_.record(steps, frame);
    }

  private:
    VulkanBackend& backend_;
};

}  // namespace mnnc::vulkan::test
