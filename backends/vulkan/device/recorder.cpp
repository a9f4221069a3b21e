// Records dispatches, finds the hazards between them and allocates descriptor sets.
#include "backends/vulkan/device/recorder.h"

#include <algorithm>

#include "backends/vulkan/device/result.h"
#include "base/error.h"

namespace mnnc::vulkan {

namespace {

constexpr uint32_t kSetsPerPool = 128;
constexpr uint32_t kBuffersPerSet = 6;  // on average

}  // namespace

DescriptorSets::~DescriptorSets() {
    for (const VkDescriptorPool pool : pools_) {
        if (device_->usable()) device_->api().vkDestroyDescriptorPool(device_->handle(), pool, nullptr);
        device_->count(Count::DescriptorPool, -1);
    }
}

void DescriptorSets::addPool() {
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, kSetsPerPool * kBuffersPerSet};
    VkDescriptorPoolCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    info.maxSets = kSetsPerPool;
    info.poolSizeCount = 1;
    info.pPoolSizes = &size;
    pools_.reserve(pools_.size() + 1);
    VkDescriptorPool pool = VK_NULL_HANDLE;
    check(device_->api().vkCreateDescriptorPool(device_->handle(), &info, nullptr, &pool), "vkCreateDescriptorPool");
    device_->count(Count::DescriptorPool, 1);
    pools_.push_back(pool);
    left_ = kSetsPerPool * kBuffersPerSet;
}

VkDescriptorSet DescriptorSets::make(const Pipeline& pipeline, std::span<const Binding> bindings) {
    // A pool is full when its sets or its descriptors are used up; here a set costs at least the average.
    const uint32_t cost = std::max(kBuffersPerSet, static_cast<uint32_t>(bindings.size()));
    if (left_ < cost) addPool();
    left_ -= cost;
    const VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, pools_.back(), 1,
                                           &pipeline.setLayout};
    VkDescriptorSet set = VK_NULL_HANDLE;
    check(device_->api().vkAllocateDescriptorSets(device_->handle(), &info, &set), "vkAllocateDescriptorSets");
    VkDescriptorBufferInfo ranges[kMaxBuffers];
    VkWriteDescriptorSet writes[kMaxBuffers];
    for (uint32_t i = 0; i < bindings.size(); ++i) {
        ranges[i] = {bindings[i].buffer, static_cast<VkDeviceSize>(bindings[i].offset),
                     static_cast<VkDeviceSize>(bindings[i].bytes)};
        writes[i] = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
        writes[i].dstSet = set;
        writes[i].dstBinding = i;
        writes[i].descriptorCount = 1;
        writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        writes[i].pBufferInfo = &ranges[i];
    }
    device_->api().vkUpdateDescriptorSets(device_->handle(), static_cast<uint32_t>(bindings.size()), writes, 0,
                                          nullptr);
    return set;
}

bool Hazards::conflicts(const Binding& access) const {
    const auto found = touched_.find(access.buffer);
    if (found == touched_.end()) return false;
    const int64_t begin = access.offset, end = access.offset + access.bytes;
    return std::any_of(found->second.begin(), found->second.end(), [&](const Range& range) {
        return (range.write || access.write) && range.begin < end && begin < range.end;
    });
}

void Hazards::note(const Binding& access) {
    std::vector<Range>& ranges = touched_[access.buffer];
    const Range range{access.offset, access.offset + access.bytes, access.write};
    for (const Range& known : ranges)
        if (known.begin == range.begin && known.end == range.end && known.write == range.write) return;
    ranges.push_back(range);
}

void Recorder::begin(VkCommandBuffer buffer) {
    const VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    check(device_.api().vkBeginCommandBuffer(buffer, &info), "vkBeginCommandBuffer");
    buffer_ = buffer;
}

void Recorder::end(bool last) {
    // The writes of the device become visible to the host, once the fence is signalled, and to later submissions.
    if (last) makeVisibleToQueue();
    check(device_.api().vkEndCommandBuffer(buffer_), "vkEndCommandBuffer");
    device_.count(Count::Recordings, 1);
    buffer_ = VK_NULL_HANDLE;
}

void Recorder::separate() {
    barrier({VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT},
            {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT});
    hazards_.clear();
}

void Recorder::waitForQueue() {
    barrier({VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT},
            {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT});
    hazards_.clear();
}

void Recorder::makeVisibleToQueue() {
    barrier({VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT},
            {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT,
             VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_READ_BIT});
    hazards_.clear();
}

void Recorder::barrier(const Scope& before, const Scope& behind) {
    const VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, before.access, behind.access};
    device_.api().vkCmdPipelineBarrier(buffer_, before.stages, behind.stages, 0, 1, &memory, 0, nullptr, 0, nullptr);
    device_.count(Count::Barriers, 1);
}

void Recorder::dispatch(const Pipeline& pipeline, std::span<const Binding> bindings, std::span<const uint32_t> push,
                        int64_t groups) {
    if (groups <= 0) return;
    if (bindings.size() != pipeline.buffers || push.size_bytes() + 8 > kMaxPushBytes || groups > INT32_MAX)
        fail(Status::Internal,
             "a dispatch has %zu buffers (%u are needed), %zu push bytes (at most %u) and %lld groups (at most %d)",
             bindings.size(), pipeline.buffers, push.size_bytes(), kMaxPushBytes - 8, asLong(groups), INT32_MAX);
    const VolkDeviceTable& api = device_.api();
    const VkDescriptorSet set = sets_.make(pipeline, bindings);
    uint32_t words[kMaxPushBytes / 4] = {static_cast<uint32_t>(groups), 0};
    std::copy(push.begin(), push.end(), words + 2);
    const int64_t parts = pieces_ ? pieces_->partsOfNext(groups) : 1;
    for (int64_t part = 0; part < parts; ++part) {
        if (pieces_) {
            begin(pieces_->next());
            waitForQueue();
        }
        api.vkCmdBindPipeline(buffer_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle);
        api.vkCmdBindDescriptorSets(buffer_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0, 1, &set, 0, nullptr);
        dispatchGroups(groups * part / parts, groups * (part + 1) / parts, parts > 1, bindings, pipeline,
                       std::span(words, push.size() + 2));
        if (pieces_) end(true);
    }
}

// Groups beyond the limit of an axis are folded into y and z. Surplus groups of the folding return at once; with
// `exact` there are none, because the groups from `end` on belong to another part of the dispatch. Groups beyond the
// limit of all axes become further dispatches.
void Recorder::dispatchGroups(int64_t first, int64_t end, bool exact, std::span<const Binding> bindings,
                              const Pipeline& pipeline, std::span<uint32_t> words) {
    const VolkDeviceTable& api = device_.api();
    const int64_t limit = maxGroups_;
    const auto folded = [&](int64_t left, int64_t of) {
        return std::clamp<int64_t>(exact ? left / of : (left + of - 1) / of, 1, limit);
    };
    while (first < end) {
        if (std::any_of(bindings.begin(), bindings.end(), [&](const Binding& b) { return hazards_.conflicts(b); }))
            separate();
        for (const Binding& binding : bindings) hazards_.note(binding);
        const int64_t left = end - first;
        const int64_t x = std::min(left, limit);
        const int64_t y = folded(left, x);
        const int64_t z = folded(left, x * y);
        words[1] = static_cast<uint32_t>(first);
        api.vkCmdPushConstants(buffer_, pipeline.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                               static_cast<uint32_t>(words.size_bytes()), words.data());
        api.vkCmdDispatch(buffer_, static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z));
        device_.count(Count::Dispatches, 1);
        first += x * y * z;
    }
}

}  // namespace mnnc::vulkan
