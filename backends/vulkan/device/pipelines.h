// Compute pipelines by shader and specialisation, and the VkPipelineCache behind them.
//
// All shaders follow one convention: set 0 holds `buffers` storage buffers at bindings 0.., push constants are at most
// 128 bytes whose first two words belong to the recorder, specialisation constant 0 is the local size in x, constants
// 1.. are the kernel's own.
#pragma once
#include <volk.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace mnnc::vulkan {

class Device;

constexpr uint32_t kMaxBuffers = 14;
constexpr uint32_t kMaxPushBytes = 128;

struct Pipeline {
    VkPipeline handle = VK_NULL_HANDLE;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    VkDescriptorSetLayout setLayout = VK_NULL_HANDLE;
    uint32_t buffers = 0;
    uint32_t localSize = 1;
};

class PipelineFactory {
  public:
    explicit PipelineFactory(Device& device) : device_(device) {}
    void create();
    void destroy() noexcept;

    // Returns the pipeline of `shader` with these constants (constants[0] is the local size). It is created on first
    // use and lives as long as the device. Throws OutOfMemory, DriverError, or Internal for an unknown name. Threads:
    // any.
    const Pipeline& get(const std::string& shader, uint32_t buffers, const std::vector<uint32_t>& constants);

    // Returns the driver's cache behind the library's header, and the tuning record.
    std::vector<uint8_t> cache() const;
    // Adds a stored cache. Returns false where it is damaged, empty or of another device; then nothing has changed.
    bool merge(const std::vector<uint8_t>& bytes);

  private:
    struct Layout {
        VkDescriptorSetLayout set = VK_NULL_HANDLE;
        VkPipelineLayout pipeline = VK_NULL_HANDLE;
    };
    struct Key {
        std::string shader;
        uint32_t buffers;
        std::vector<uint32_t> constants;
        auto operator<=>(const Key&) const = default;
    };
    const Layout& layout(uint32_t buffers);
    VkShaderModule module(const std::string& shader);

    Device& device_;
    mutable std::mutex mutex_;
    VkPipelineCache cache_ = VK_NULL_HANDLE;
    Layout layouts_[kMaxBuffers + 1];
    std::map<std::string, VkShaderModule> modules_;
    std::map<Key, Pipeline> pipelines_;  // without a handle: no attempt to create it has succeeded
};

}  // namespace mnnc::vulkan
