// Creates pipelines, their layouts and shader modules on first use.
#include "backends/vulkan/device/pipelines.h"

#include <algorithm>
#include <cstring>

#include "backends/vulkan/device/cache_header.h"
#include "backends/vulkan/device/device.h"
#include "backends/vulkan/device/result.h"
#include "backends/vulkan/device/shaders.h"
#include "base/error.h"

namespace mnnc::vulkan {

void PipelineFactory::create() {
    const VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    check(device_.api().vkCreatePipelineCache(device_.handle(), &info, nullptr, &cache_), "vkCreatePipelineCache");
}

void PipelineFactory::destroy() noexcept {
    const VolkDeviceTable& api = device_.api();
    const VkDevice handle = device_.handle();
    const bool usable = device_.usable();
    for (const auto& [key, pipeline] : pipelines_) {
        if (!pipeline.handle) continue;
        if (usable) api.vkDestroyPipeline(handle, pipeline.handle, nullptr);
        device_.count(Count::Pipeline, -1);
    }
    for (const auto& [name, module] : modules_) {
        if (!module) continue;
        if (usable) api.vkDestroyShaderModule(handle, module, nullptr);
        device_.count(Count::ShaderModule, -1);
    }
    for (const Layout& layout : layouts_) {
        if (usable && layout.pipeline) api.vkDestroyPipelineLayout(handle, layout.pipeline, nullptr);
        if (usable && layout.set) api.vkDestroyDescriptorSetLayout(handle, layout.set, nullptr);
        if (layout.pipeline) device_.count(Count::Layout, -1);
    }
    if (usable && cache_) api.vkDestroyPipelineCache(handle, cache_, nullptr);
    pipelines_.clear();
    modules_.clear();
}

const PipelineFactory::Layout& PipelineFactory::layout(uint32_t buffers) {
    Layout& entry = layouts_[buffers];
    if (entry.pipeline) return entry;
    const VolkDeviceTable& api = device_.api();
    std::vector<VkDescriptorSetLayoutBinding> bindings(buffers);
    for (uint32_t i = 0; i < buffers; ++i)
        bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    set.bindingCount = buffers;
    set.pBindings = bindings.data();
    if (!entry.set) {
        VkDescriptorSetLayout made = VK_NULL_HANDLE;  // undefined after a failure, as the handles below
        check(api.vkCreateDescriptorSetLayout(device_.handle(), &set, nullptr, &made), "vkCreateDescriptorSetLayout");
        entry.set = made;
    }
    const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, kMaxPushBytes};
    VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    info.setLayoutCount = 1;
    info.pSetLayouts = &entry.set;
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &push;
    VkPipelineLayout made = VK_NULL_HANDLE;
    check(api.vkCreatePipelineLayout(device_.handle(), &info, nullptr, &made), "vkCreatePipelineLayout");
    entry.pipeline = made;
    device_.count(Count::Layout, 1);
    return entry;
}

VkShaderModule PipelineFactory::module(const std::string& shader) {
    VkShaderModule& module = modules_[shader];  // a failure leaves it null, and the next call tries again
    if (module) return module;
    const std::span<const ShaderCode> all = embeddedShaders();
    const auto code = std::lower_bound(all.begin(), all.end(), shader,
                                       [](const ShaderCode& a, const std::string& b) { return a.name < b; });
    if (code == all.end() || code->name != shader) fail(Status::Internal, "there is no shader '%s'", shader.c_str());
    const std::vector<uint32_t> words = unpackShader(*code);
    const VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0,
                                        words.size() * sizeof(uint32_t), words.data()};
    VkShaderModule made = VK_NULL_HANDLE;
    check(device_.api().vkCreateShaderModule(device_.handle(), &info, nullptr, &made), "vkCreateShaderModule");
    module = made;
    device_.count(Count::ShaderModule, 1);
    return module;
}

const Pipeline& PipelineFactory::get(const std::string& shader, uint32_t buffers,
                                     const std::vector<uint32_t>& constants) {
    if (buffers > kMaxBuffers || constants.empty())
        fail(Status::Internal,
             "shader '%s' has %u buffers (at most %u are possible) and %zu constants (at least 1 is needed)",
             shader.c_str(), buffers, kMaxBuffers, constants.size());
    device_.requireUsable();
    const std::lock_guard lock(mutex_);
    const Key key{shader, buffers, constants};
    Pipeline& pipeline = pipelines_[key];  // without a handle after a failure, like modules
    if (pipeline.handle) return pipeline;
    const Layout& layouts = layout(buffers);
    pipeline.layout = layouts.pipeline;
    pipeline.setLayout = layouts.set;
    pipeline.buffers = buffers;
    pipeline.localSize = constants[0];
    std::vector<VkSpecializationMapEntry> entries(constants.size());
    for (uint32_t i = 0; i < entries.size(); ++i) entries[i] = {i, i * 4, 4};
    const VkSpecializationInfo specialization{static_cast<uint32_t>(entries.size()), entries.data(),
                                              constants.size() * 4, constants.data()};
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  nullptr,
                  0,
                  VK_SHADER_STAGE_COMPUTE_BIT,
                  module(shader),
                  "main",
                  &specialization};
    info.layout = layouts.pipeline;
    check(device_.api().vkCreateComputePipelines(device_.handle(), cache_, 1, &info, nullptr, &pipeline.handle),
          "vkCreateComputePipelines");
    device_.count(Count::Pipeline, 1);
    return pipeline;
}

std::vector<uint8_t> PipelineFactory::cache() const {
    device_.requireUsable();
    std::vector<uint8_t> blob;
    {
        const std::lock_guard lock(mutex_);  // new pipelines and merges change the cache
        size_t bytes = 0;
        check(device_.api().vkGetPipelineCacheData(device_.handle(), cache_, &bytes, nullptr),
              "vkGetPipelineCacheData");
        blob.resize(bytes);
        check(device_.api().vkGetPipelineCacheData(device_.handle(), cache_, &bytes, blob.data()),
              "vkGetPipelineCacheData");
        blob.resize(bytes);
    }
    const std::vector<uint8_t> tuning = device_.tuning().bytes();
    return storedCache({blob, tuning}, device_.info());
}

bool PipelineFactory::merge(const std::vector<uint8_t>& bytes) {
    device_.requireUsable();
    const std::optional<CacheContent> content = cacheContent(bytes, device_.info());
    if (!content) return false;
    const std::span<const uint8_t> blob = content->pipelines;
    VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    info.initialDataSize = blob.size();
    info.pInitialData = blob.data();
    VkPipelineCache stored = VK_NULL_HANDLE;
    const VolkDeviceTable& api = device_.api();
    if (api.vkCreatePipelineCache(device_.handle(), &info, nullptr, &stored) != VK_SUCCESS) return false;
    const std::lock_guard lock(mutex_);
    const bool merged = api.vkMergePipelineCaches(device_.handle(), cache_, 1, &stored) == VK_SUCCESS;
    api.vkDestroyPipelineCache(device_.handle(), stored, nullptr);
    return merged && device_.tuning().merge(content->tuning);
}

}  // namespace mnnc::vulkan
