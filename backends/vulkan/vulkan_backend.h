// The Vulkan backend of one session: creates executions, records them, prepares weights on the device.
//
// Storage on the device is like the host's, in blocks of 4 channels: [N][ceil(C/4)][plane][4], or row-major. float32
// tensors are fp16 under Precision Low where the device has 16-bit storage buffers, unless they are wide: coordinates,
// and operands of operators that keep 32 bits. int32 stays 32 bit. The device does not store other types.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/device_backend.h"
#include "backend/refusal.h"
#include "backends/vulkan/device/device.h"
#include "backends/vulkan/limits.h"

namespace mnnc::vulkan {

constexpr int kChannelBlock = 4;

class VulkanBackend;

// One operator of the backend. Families are lines of ops/families.def.
struct VulkanOp {
    OpType type;
    // Returns whether create takes the command; if not, a sentence in `reason`. Types, sizes of bindings and 32-bit
    // indexing of all tensors are checked before. Null: always.
    bool (*supports)(const VulkanBackend& backend, const Command& command, std::string& reason);
    // Null: every tensor is row-major.
    StorageChoice (*storage)(const VulkanBackend& backend, const Command& command);
    std::unique_ptr<Execution> (*create)(VulkanBackend& backend, const Command& command);
    // Returns whether create takes the command with its epilogue whenever it takes it without. Null: never.
    bool (*supportsPostOps)(const VulkanBackend& backend, const Command& command) = nullptr;
};
using VulkanFamily = std::span<const VulkanOp>;

class VulkanBackend final : public DeviceBackend {
  public:
    VulkanBackend(std::shared_ptr<Device> device, const BackendConfig& config, WeightStore& weights);
    ~VulkanBackend() override;

    const char* name() const noexcept override { return "vulkan"; }
    EffectiveSettings settings() const override;
    DeviceBackend* device() noexcept override { return this; }
    bool supports(const Command& command, std::string& reason) const override;
    bool supportsPostOps(const Command& command) const override;
    std::span<const FusionPattern* const> patterns() const noexcept override;
    bool narrowsFloats() const noexcept override { return half_; }
    StorageChoice chooseStorage(const Command& command) const override;
    std::unique_ptr<Execution> create(const Command& command, std::string& reason) override;

    const void* identity() const noexcept override { return device_.get(); }
    int64_t storageBytes(const Operand& tensor) const override;
    int64_t alignment() const noexcept override { return device_->memory().alignment(); }
    int64_t bindableBytes() const noexcept override { return limits_.storageRange; }
    void requireUsable() const override { device_->requireUsable(); }
    DeviceBlockPtr allocate(int64_t bytes, DeviceUse use) override;
    DeviceBlockPtr share(const SharedBuffer& buffer, int64_t bytes) override;
    SharedBuffer describe(const DeviceBlock& block, int64_t offset, int64_t bytes,
                          SharedBuffer::Kind kind) const override;
    std::unique_ptr<BlockCopy> createCopy(const DeviceBlock& from, const DeviceBlock& to, int64_t bytes) override;
    std::unique_ptr<Execution> createUpload(const Operand& host, const Operand& staging,
                                            const Operand& device) override;
    std::unique_ptr<Execution> createDownload(const Operand& device, const Operand& host) override;
    std::unique_ptr<Recording> record(std::span<const DeviceStep> steps, const Frame& frame) override;
    std::vector<uint8_t> cache() const override { return device_->pipelines().cache(); }
    size_t measurements() const override { return device_->tuning().size(); }
    size_t measurementsIn(const std::vector<uint8_t>& cache) const override;

    const std::shared_ptr<Device>& gpu() const noexcept { return device_; }
    const Limits& limits() const noexcept { return limits_; }
    const BackendConfig& config() const noexcept { return config_; }
    bool half() const noexcept { return half_; }  // float tensors that are not wide are stored as fp16
    // Returns whether this tensor is stored as fp16.
    bool half(const Operand& tensor) const noexcept {
        return half_ && tensor.onDevice && tensor.type == DataType::Float32 && !tensor.wide;
    }
    bool batched() const noexcept { return config_.recordBatch; }
    // The tuning mode; None where the device has no clock.
    GpuTuning tuning() const noexcept { return device_->info().timestampBits > 0 ? config_.tuning : GpuTuning::None; }
    // Returns whether one more operator may be measured, and counts it.
    bool measuresOneMore() noexcept {
        if (config_.tuningOperators > 0 && *measured_ >= config_.tuningOperators) return false;
        ++*measured_;
        return true;
    }
    VkCommandPool commandPool() const noexcept { return commandPool_; }

    // Returns a pipeline for elements of the given tensor: "_f16" or "_i32" is appended to the shader's name where they
    // are stored in that type. constants: the kernel's own, from constant id 1 on. The local size is lowered to the
    // device's limit.
    const Pipeline& pipeline(const std::string& shader, const Operand& like, uint32_t buffers, uint32_t localSize,
                             std::vector<uint32_t> constants = {});
    // The same for operators whose float tensors are never wide.
    const Pipeline& pipeline(const std::string& shader, DataType type, uint32_t buffers, uint32_t localSize,
                             std::vector<uint32_t> constants = {});
    // The same for a shader whose name is complete.
    const Pipeline& exactPipeline(const std::string& shader, uint32_t buffers, uint32_t localSize,
                                  std::vector<uint32_t> constants = {});

    // Returns weights on the device, prepared once for all sessions of the interpreter. `values` are floats (fp16 on
    // the device where tensors are, unless `keepFloat`) or raw words.
    using WeightsPtr = std::shared_ptr<const Block>;
    WeightsPtr weights(const ParamsPtr& params, const std::string& variant, int64_t floats,
                       const std::function<void(std::vector<float>&)>& fill, bool keepFloat = false);
    // The same for codes; the callback gets bytes that are zero.
    WeightsPtr codes(const ParamsPtr& params, const std::string& variant, int64_t count,
                     const std::function<void(int8_t*)>& fill);
    // The same for one execution alone: tables of words.
    WeightsPtr table(std::span<const uint32_t> words);

  private:
    void destroyPool() noexcept;
    std::shared_ptr<Block> uploaded(const void* bytes, int64_t size);

    const std::shared_ptr<Device> device_;
    const BackendConfig config_;
    const Limits limits_;
    WeightStore& weights_;
    bool half_ = false;
    // The number of operators, together with those of fp32_.
    std::shared_ptr<int64_t> measured_ = std::make_shared<int64_t>(0);
    VkCommandPool commandPool_ = VK_NULL_HANDLE;
    std::unique_ptr<VulkanBackend> fp32_;  // makes executions of commands that keep 32 bits; null: this one does
};

// The extents of a channel-packed tensor in the order of the kernels: [n][c/4][plane][4].
struct Packed {
    int64_t n, c, blocks, plane;
    explicit Packed(const Operand& tensor)
        : n(tensor.batch()), c(tensor.shape.at(1)), blocks(ceilDiv(c, kChannelBlock)), plane(tensor.plane()) {}
};

// Storage rules shared by many operators.
// Stores all tensors packed when input 0 is packed now (elementwise operators of one shape).
StorageChoice storageFollow(const VulkanBackend& backend, const Command& command);
// Stores input 0 and the outputs packed, all other inputs row-major.
StorageChoice storagePacked(const VulkanBackend& backend, const Command& command);

}  // namespace mnnc::vulkan
