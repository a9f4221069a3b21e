// One VkDevice with its compute queue, memory pools and pipelines. All sessions that use the same physical device share
// it; it is destroyed with the last of them. A device of the host is shared by the sessions of one runtime.
#pragma once
#include <volk.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>

#include "backend/host_vulkan.h"
#include "backends/vulkan/device/instance.h"
#include "backends/vulkan/device/memory.h"
#include "backends/vulkan/device/pipelines.h"
#include "backends/vulkan/device/tuning_record.h"

namespace mnnc::vulkan {

// Numbers of the library's living Vulkan objects, and of events; for tests.
enum class Count : uint8_t {
    Memory,
    Buffer,
    ShaderModule,
    Layout,
    Pipeline,
    DescriptorPool,
    CommandPool,
    CommandBuffer,
    Fence,
    QueryPool,
    Recordings,  // command buffers recorded since the start; the following ones count events, too
    Dispatches,
    Barriers,
    Submits,
    Last
};
using Counters = std::array<std::atomic<int64_t>, static_cast<size_t>(Count::Last)>;

class Device {
  public:
    // Returns the device in use, or a new one. The arguments are those of Instance::choose. Throws
    // Error(BackendMissing) when there is none, OutOfMemory or DriverError when it cannot be created.
    static std::shared_ptr<Device> get(const std::string& wanted, bool software);
    // Creates a device over the host's objects, which are checked, used and never destroyed. Throws Error(InvalidValue)
    // naming the wrong object, NotSupported naming the missing ability, and the errors of get().
    static std::shared_ptr<Device> ofHost(std::shared_ptr<const HostVulkan> host);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const DeviceInfo& info() const noexcept { return info_; }
    VkDevice handle() const noexcept { return handle_; }
    const VolkDeviceTable& api() const noexcept { return api_; }
    bool ofHost() const noexcept { return host_ != nullptr; }
    // Returns whether memory can be imported from and exported as file descriptors, because the device was made with
    // the extension for that.
    bool descriptors() const noexcept { return info_.descriptors && api_.vkGetMemoryFdKHR; }
    VolkDeviceTable& apiForTests() noexcept { return api_; }  // fault injection
    MemoryPool& memory() noexcept { return memory_; }
    PipelineFactory& pipelines() noexcept { return pipelines_; }
    TuningRecord& tuning() noexcept { return tuning_; }

    // Submits the command buffers as one batch, whose end signals the fence. Throws DeviceLost (and after that always),
    // OutOfMemory, DriverError, or BadState in a forked child; then the fence need not be waited for.
    void submit(std::span<const VkCommandBuffer> buffers, VkFence fence);
    // Waits for the fence of a submission. Returns false when it is not signalled within that many nanoseconds; below 0
    // there is no limit. Throws the errors of submit(); then nothing of the submission is in flight.
    bool wait(VkFence fence, int64_t nanoseconds);

    // Throws BadState in a forked child, DeviceLost after a loss.
    void requireUsable() const;
    // Returns whether Vulkan can be called: not in a forked child.
    bool usable() const noexcept;
    bool lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
    void count(Count kind, int64_t change) noexcept {
        counters()[static_cast<size_t>(kind)].fetch_add(change, std::memory_order_relaxed);
    }
    // Returns the counts of the whole process: when a device is destroyed, its objects must be, too.
    static Counters& counters() noexcept;

  private:
    explicit Device(std::shared_ptr<Instance> instance, size_t index);
    explicit Device(std::shared_ptr<const HostVulkan> host);
    void create();
    class QueueUse;
    // Throws the error of a failed call, after noting a lost device.
    [[noreturn]] void failCall(VkResult result, const char* call);

    const std::shared_ptr<const HostVulkan> host_;  // null: the VkDevice is the library's
    const std::shared_ptr<Instance> instance_;      // null: the VkInstance is the host's
    const DeviceInfo info_;
    const int process_;
    VkDevice handle_ = VK_NULL_HANDLE;
    VolkDeviceTable api_{};
    VkQueue queue_ = VK_NULL_HANDLE;
    std::mutex queueMutex_;
    std::atomic<bool> lost_{false};
    MemoryPool memory_{*this};
    PipelineFactory pipelines_{*this};
    TuningRecord tuning_;
};

}  // namespace mnnc::vulkan
