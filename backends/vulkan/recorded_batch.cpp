// Records executions into command buffers and submits them.
#include "backends/vulkan/recorded_batch.h"

#include "backends/vulkan/device/result.h"
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

namespace {

constexpr size_t kBatch = 32;  // executions in one command buffer of the indirect mode

size_t buffersFor(const VulkanBackend& backend, size_t executions) {
    return backend.batched() ? (executions + kBatch - 1) / kBatch : executions;
}

}  // namespace

CommandBuffers::CommandBuffers(const VulkanBackend& backend, uint32_t count)
    : device_(backend.gpu()), pool_(backend.commandPool()) {
    const VolkDeviceTable& api = device_->api();
    const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    check(api.vkCreateFence(device_->handle(), &fence, nullptr, &fence_), "vkCreateFence");
    device_->count(Count::Fence, 1);
    const VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool_,
                                           VK_COMMAND_BUFFER_LEVEL_PRIMARY, count};
    try {
        buffers_.resize(count);
        check(api.vkAllocateCommandBuffers(device_->handle(), &info, buffers_.data()),
              "vkAllocateCommandBuffers");
    } catch (...) {
        api.vkDestroyFence(device_->handle(), fence_, nullptr);
        device_->count(Count::Fence, -1);
        throw;
    }
    device_->count(Count::CommandBuffer, count);
}

CommandBuffers::~CommandBuffers() {
    if (device_->usable()) {
        device_->api().vkFreeCommandBuffers(device_->handle(), pool_, static_cast<uint32_t>(buffers_.size()),
                                            buffers_.data());
        device_->api().vkDestroyFence(device_->handle(), fence_, nullptr);
    }
    device_->count(Count::CommandBuffer, -static_cast<int64_t>(buffers_.size()));
    device_->count(Count::Fence, -1);
}

RecordedBatch::Commands::Commands(const VulkanBackend& backend, size_t executions)
    : sets(backend.gpu()), buffers(backend, static_cast<uint32_t>(buffersFor(backend, executions))) {}

RecordedBatch::RecordedBatch(VulkanBackend& backend, std::vector<std::unique_ptr<Execution>> executions)
    : backend_(backend), device_(backend.gpu()), executions_(std::move(executions)) {
    for (const auto& execution : executions_) {
        auto& one = static_cast<VulkanExecution&>(*execution);
        if (one.hasHostPart()) hostParts_.push_back(&one);
    }
    bindReports();
    commands_ = encode(nullptr);
}

void RecordedBatch::recordAgain() {
    timed_.reset();
    commands_.reset();
    commands_ = encode(nullptr);
}

std::unique_ptr<RecordedBatch::Commands> RecordedBatch::encode(const Timestamps* timestamps) {
    auto commands = std::make_unique<Commands>(backend_, executions_.size());
    const CommandBuffers& buffers = commands->buffers;
    Recorder recorder(*device_, commands->sets, backend_.limits().groupCount);
    const size_t each = backend_.batched() ? kBatch : 1;
    for (size_t i = 0; i < executions_.size(); ++i) {
        auto& execution = static_cast<VulkanExecution&>(*executions_[i]);
        const VkCommandBuffer buffer = buffers[i / each];
        if (i % each == 0) recorder.begin(buffer);
        if (timestamps && i == 0) {
            timestamps->reset(buffer);
            timestamps->write(buffer, 0);
        }
        execution.encode(recorder);
        if (timestamps) {
            recorder.separate();
            timestamps->write(buffer, static_cast<uint32_t>(i + 1));
        }
        const bool last = i + 1 == executions_.size();
        if (last || (i + 1) % each == 0) recorder.end(last);
    }
    return commands;
}

void RecordedBatch::bindReports() {
    int64_t bytes = 0;
    std::vector<int64_t> offsets;
    for (const auto& execution : executions_) {
        auto& one = static_cast<VulkanExecution&>(*execution);
        if (one.reportBytes() == 0) continue;
        reporting_.push_back(&one);
        offsets.push_back(bytes);
        bytes = checkedAdd(bytes, roundUp(one.reportBytes(), backend_.alignment()), "reports of a run");
    }
    if (reporting_.empty()) return;
    reports_ = backend_.allocate(bytes, DeviceUse::Download);
    for (size_t i = 0; i < reporting_.size(); ++i)
        reporting_[i]->bindReport(static_cast<const Block&>(*reports_), offsets[i]);
}

void RecordedBatch::onExecute() {
    begin();
    end(-1);
}

void RecordedBatch::executeTimed(std::span<double> ms) {
    if (!Timestamps::supported(*device_)) return onExecute();
    if (!timestamps_)
        timestamps_ = std::make_unique<Timestamps>(device_, static_cast<uint32_t>(executions_.size() + 1));
    if (!timed_) timed_ = encode(timestamps_.get());
    submit(*timed_);
    wait(*timed_, -1);
    timestamps_->read(ms);
}

void RecordedBatch::begin() {
    submit(*commands_);
}

bool RecordedBatch::end(int64_t nanoseconds) {
    return wait(*commands_, nanoseconds);
}

void RecordedBatch::submit(const Commands& commands) {
    device_->requireUsable();  // before the host's part writes into memory of another process
    for (VulkanExecution* execution : hostParts_) execution->beforeSubmit();
    commands.buffers.submit();
}

bool RecordedBatch::wait(const Commands& commands, int64_t nanoseconds) {
    if (!commands.buffers.wait(nanoseconds)) return false;
    for (const VulkanExecution* execution : reporting_) execution->afterRun();
    return true;
}

void copyNow(const VulkanBackend& backend, const Block& from, const Block& to, int64_t bytes) {
    const CommandBuffers buffers(backend, 1);
    const VolkDeviceTable& api = backend.gpu()->api();
    VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    check(api.vkBeginCommandBuffer(buffers[0], &begin), "vkBeginCommandBuffer");
    const VkBufferCopy copy{static_cast<VkDeviceSize>(from.offset()), static_cast<VkDeviceSize>(to.offset()),
                            static_cast<VkDeviceSize>(bytes)};
    api.vkCmdCopyBuffer(buffers[0], from.buffer(), to.buffer(), 1, &copy);
    const VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_TRANSFER_WRITE_BIT,
                                 VK_ACCESS_SHADER_READ_BIT};
    api.vkCmdPipelineBarrier(buffers[0], VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                             0, 1, &memory, 0, nullptr, 0, nullptr);
    check(api.vkEndCommandBuffer(buffers[0]), "vkEndCommandBuffer");
    buffers.run();
}

}  // namespace mnnc::vulkan
