// Creates executions, chooses pipelines and uploads weights for one session.
#include "backends/vulkan/vulkan_backend.h"

#include <algorithm>
#include <cstring>

#include "backends/vulkan/buffer_copy.h"
#include "backends/vulkan/device/cache_header.h"
#include "backends/vulkan/device/result.h"
#include "backends/vulkan/device/shared_block.h"
#include "backends/vulkan/fusions/patterns.h"
#include "backends/vulkan/ops/table.h"
#include "backends/vulkan/recorded_batch.h"
#include "base/error.h"
#include "base/half.h"

namespace mnnc::vulkan {

namespace {

// Returns the pattern of this backend that executes a fused command; null: it belongs to another backend.
const FusionPattern* fusionPattern(const Command& fused) {
    return findPattern(fusionPatterns(), typeName(fused));
}

}  // namespace

VulkanBackend::VulkanBackend(std::shared_ptr<Device> device, const BackendConfig& config, WeightStore& weights)
    : device_(std::move(device)),
      config_(config),
      limits_(device_->info(), config.deviceLimits),
      weights_(weights),
      half_(config.precision == Precision::Low && device_->info().storage16) {
    device_->requireUsable();
    VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    info.queueFamilyIndex = device_->info().queueFamily;
    check(device_->api().vkCreateCommandPool(device_->handle(), &info, nullptr, &commandPool_), "vkCreateCommandPool");
    device_->count(Count::CommandPool, 1);
    if (!half_ || config.fp32Operators.empty()) return;
    try {
        BackendConfig wide = config;
        wide.precision = Precision::Normal;
        wide.fp32Operators.clear();
        fp32_ = std::make_unique<VulkanBackend>(device_, wide, weights);
        fp32_->measured_ = measured_;
    } catch (...) {
        destroyPool();
        throw;
    }
}

VulkanBackend::~VulkanBackend() {
    destroyPool();
}

void VulkanBackend::destroyPool() noexcept {
    if (device_->usable()) device_->api().vkDestroyCommandPool(device_->handle(), commandPool_, nullptr);
    device_->count(Count::CommandPool, -1);
}

EffectiveSettings VulkanBackend::settings() const {
    EffectiveSettings own;
    own.precision = config_.precision;
    if (config_.precision == Precision::Low && !half_) {
        own.precision = Precision::Normal;
        own.precisionReason = "the device has no storage of 16-bit numbers in buffers";
    }
    if (config_.memory == MemoryMode::Low)
        own.memory = MemoryMode::Low;
    else if (config_.memory == MemoryMode::High)
        own.memoryReason = "the Vulkan backend has no weights that more memory makes faster";
    own.device = device_->info().name;
    own.tuning = tuning();
    return own;
}

bool VulkanBackend::supports(const Command& command, std::string& reason) const {
    if (command.fp32 && fp32_) return fp32_->supports(command, reason);  // as in create()
    const std::string& refused = config_.deviceLimits.refuse;
    if (!refused.empty() && command.name.find(refused) != std::string::npos)
        return refuse(reason, "the device's limits refuse it");
    const bool fused = command.type == OpType::Fused;
    const VulkanOp* op = fused ? nullptr : findVulkanOp(command.type);
    if (fused ? !fusionPattern(command) : !op) return refuse(reason, "the Vulkan backend has no kernel for it");
    for (const std::vector<Operand*>* side : {&command.inputs, &command.outputs})
        for (const Operand* tensor : *side) {
            if (tensor->type != DataType::Float32 && tensor->type != DataType::Int32)
                return refuse(reason, format("the Vulkan backend has no %s tensors", dataTypeName(tensor->type)));
            // Both storages must fit a binding and 32-bit indexes.
            Operand largest = *tensor;
            largest.channelBlock = canPack(largest) ? kChannelBlock : 1;
            if (largest.storageElements() > INT32_MAX || roundUp(largest.storageBytes(), 16) > limits_.storageRange)
                return refuse(reason, format("a tensor of shape %s exceeds what the device binds at once (%lld bytes)",
                                             tensor->shape.text().c_str(), asLong(limits_.storageRange)));
        }
    return !op || !op->supports || op->supports(*this, command, reason);
}

bool VulkanBackend::supportsPostOps(const Command& command) const {
    const VulkanOp* op = findVulkanOp(command.type);
    return op && op->supportsPostOps && op->supportsPostOps(*this, command);
}

std::span<const FusionPattern* const> VulkanBackend::patterns() const noexcept {
    return fusionPatterns();
}

StorageChoice VulkanBackend::chooseStorage(const Command& command) const {
    if (command.type == OpType::Fused) return fusionPattern(command)->storage(*this, command);
    const VulkanOp* op = findVulkanOp(command.type);
    return op && op->storage ? op->storage(*this, command) : StorageChoice{};
}

// A command that keeps 32 bits gets its execution from fp32_, the backend that stores all floats in 32 bits: all
// operands of the command are wide.
std::unique_ptr<Execution> VulkanBackend::create(const Command& command, std::string& reason) {
    if (command.fp32 && fp32_) return fp32_->create(command, reason);
    if (command.type == OpType::Fused) return fusionPattern(command)->create(*this, command, reason);
    return findVulkanOp(command.type)->create(*this, command);
}

int64_t VulkanBackend::storageBytes(const Operand& tensor) const {
    const int64_t width = half(tensor) ? 2 : 4;
    // Kernels of two-byte elements may access whole words.
    return roundUp(checkedMul(tensor.storageElements(), width, "tensor bytes"), 16);
}

DeviceBlockPtr VulkanBackend::allocate(int64_t bytes, DeviceUse use) {
    return device_->memory().allocate(device_, bytes, use);
}

DeviceBlockPtr VulkanBackend::share(const SharedBuffer& buffer, int64_t bytes) {
    return shareBuffer(device_, buffer, bytes);
}

SharedBuffer VulkanBackend::describe(const DeviceBlock& block, int64_t offset, int64_t bytes,
                                     SharedBuffer::Kind kind) const {
    return describeBlock(*device_, static_cast<const Block&>(block), offset, bytes, kind);
}

std::unique_ptr<BlockCopy> VulkanBackend::createCopy(const DeviceBlock& from, const DeviceBlock& to, int64_t bytes) {
    return std::make_unique<BufferCopy>(*this, static_cast<const Block&>(from), static_cast<const Block&>(to), bytes);
}

std::unique_ptr<Recording> VulkanBackend::record(std::span<const DeviceStep> steps, const Frame& frame) {
    return std::make_unique<RecordedBatch>(*this, steps, frame);
}

const Pipeline& VulkanBackend::pipeline(const std::string& shader, const Operand& like, uint32_t buffers,
                                        uint32_t localSize, std::vector<uint32_t> constants) {
    const char* suffix = like.type == DataType::Int32 ? "_i32" : half(like) ? "_f16" : "";
    return exactPipeline(shader + suffix, buffers, localSize, std::move(constants));
}

const Pipeline& VulkanBackend::pipeline(const std::string& shader, DataType type, uint32_t buffers, uint32_t localSize,
                                        std::vector<uint32_t> constants) {
    const char* suffix = type == DataType::Int32 ? "_i32" : half_ ? "_f16" : "";
    return exactPipeline(shader + suffix, buffers, localSize, std::move(constants));
}

const Pipeline& VulkanBackend::exactPipeline(const std::string& shader, uint32_t buffers, uint32_t localSize,
                                             std::vector<uint32_t> constants) {
    if (buffers > limits_.storageBuffers)
        fail(Status::NotSupported, "shader %s needs %u buffers, the device binds %u", shader.c_str(), buffers,
             limits_.storageBuffers);
    constants.insert(constants.begin(), std::min(localSize, limits_.groupInvocations));
    return device_->pipelines().get(shader, buffers, constants);
}

std::shared_ptr<Block> VulkanBackend::uploaded(const void* bytes, int64_t size) {
    auto block = device_->memory().allocate(device_, size, DeviceUse::Compute);
    if (void* memory = config_.deviceLimits.stageWeights ? nullptr : block->host()) {
        std::memcpy(memory, bytes, static_cast<size_t>(size));
        return block;
    }
    const auto staging = device_->memory().allocate(device_, size, DeviceUse::Upload);
    std::memcpy(staging->host(), bytes, static_cast<size_t>(size));
    BufferCopy(*this, *staging, *block, size).run();
    return block;
}

VulkanBackend::WeightsPtr VulkanBackend::weights(const ParamsPtr& params, const std::string& variant, int64_t floats,
                                                 const std::function<void(std::vector<float>&)>& fill, bool keepFloat) {
    const bool narrow = half_ && !keepFloat;
    const int64_t bytes = roundUp(checkedMul(std::max<int64_t>(floats, 1), narrow ? 2 : 4, "weights"), 16);
    const std::string key =
        format("vulkan %p %s ", static_cast<const void*>(device_.get()), narrow ? "f16" : "f32") + variant;
    return weights_.get<Block>(params, key, bytes, config_.maxMemoryBytes, [&] {
        std::vector<float> values(static_cast<size_t>(floats));
        fill(values);
        values.resize(static_cast<size_t>(floats));
        if (!narrow) {
            values.resize(static_cast<size_t>(bytes / 4));
            return uploaded(values.data(), bytes);
        }
        std::vector<uint16_t> halves(static_cast<size_t>(bytes / 2));
        for (size_t i = 0; i < values.size(); ++i) halves[i] = floatToHalf(values[i]);
        return uploaded(halves.data(), bytes);
    });
}

VulkanBackend::WeightsPtr VulkanBackend::codes(const ParamsPtr& params, const std::string& variant, int64_t count,
                                               const std::function<void(int8_t*)>& fill) {
    const int64_t bytes = roundUp(std::max<int64_t>(count, 1), 16);
    const std::string key = format("vulkan %p codes ", static_cast<const void*>(device_.get())) + variant;
    return weights_.get<Block>(params, key, bytes, config_.maxMemoryBytes, [&] {
        std::vector<int8_t> values(static_cast<size_t>(bytes));
        fill(values.data());
        return uploaded(values.data(), bytes);
    });
}

VulkanBackend::WeightsPtr VulkanBackend::table(std::span<const uint32_t> words) {
    const uint32_t none = 0;
    if (words.empty()) words = {&none, 1};
    return uploaded(words.data(), static_cast<int64_t>(words.size_bytes()));
}

StorageChoice storageFollow(const VulkanBackend&, const Command& command) {
    StorageChoice choice;
    if (!command.inputs.empty() && command.inputs[0]->channelBlock > 1)
        choice.inputBlock = choice.outputBlock = kChannelBlock;
    return choice;
}

StorageChoice storagePacked(const VulkanBackend&, const Command&) {
    StorageChoice choice;
    choice.inputBlock = choice.outputBlock = kChannelBlock;
    choice.rowMajorInputs = ~1u;
    return choice;
}

size_t VulkanBackend::measurementsIn(const std::vector<uint8_t>& cache) const {
    TuningRecord held;
    const std::optional<CacheContent> content = cacheContent(cache, device_->info());
    return content && held.merge(content->tuning) ? held.size() : 0;
}

}  // namespace mnnc::vulkan
