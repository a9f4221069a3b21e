// Creates, shares and destroys a VkDevice, submits command buffers and counts objects.
#include "backends/vulkan/device/device.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/vulkan/device/result.h"
#include "base/error.h"
#include "base/os/threads.h"

namespace mnnc::vulkan {

namespace {

bool hasExtension(VkPhysicalDevice device, const char* name) {
    uint32_t count = 0;
    if (vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr) != VK_SUCCESS) return false;
    std::vector<VkExtensionProperties> extensions(count);
    if (vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data()) < 0) return false;
    return std::any_of(extensions.begin(), extensions.end(), [&](const VkExtensionProperties& extension) {
        return std::strcmp(extension.extensionName, name) == 0;
    });
}

}  // namespace

std::shared_ptr<Device> Device::get(const std::string& wanted, bool software) {
    static std::mutex mutex;
    static std::vector<std::weak_ptr<Device>> shared;
    const std::lock_guard lock(mutex);
    std::shared_ptr<Instance> instance = Instance::get();
    const size_t index = instance->choose(wanted, software);
    std::erase_if(shared, [](const auto& device) { return device.expired(); });
    for (const auto& one : shared)
        if (auto device = one.lock();
            device && device->usable() && !device->lost() && device->info_.handle == instance->devices()[index].handle)
            return device;
    std::shared_ptr<Device> device(new Device(std::move(instance), index));
    shared.push_back(device);
    return device;
}

std::shared_ptr<Device> Device::ofHost(std::shared_ptr<const HostVulkan> host) {
    return std::shared_ptr<Device>(new Device(std::move(host)));
}

Device::Device(std::shared_ptr<const HostVulkan> host)
    : host_(std::move(host)),
      info_(describeHostDevice(*host_)),
      process_(os::processNumber()),
      handle_(static_cast<VkDevice>(host_->device)),
      queue_(static_cast<VkQueue>(host_->queue)) {
    volkLoadDeviceTable(&api_, handle_);
    if (!api_.vkBindBufferMemory2)
        fail(Status::NotSupported, "the Vulkan device of the host has no functions of Vulkan 1.1");
    pipelines_.create();
}

Device::Device(std::shared_ptr<Instance> instance, size_t index)
    : instance_(std::move(instance)), info_(instance_->devices()[index]), process_(os::processNumber()) {
    try {
        create();
    } catch (...) {
        if (handle_ && api_.vkDestroyDevice) api_.vkDestroyDevice(handle_, nullptr);
        throw;
    }
}

void Device::create() {
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue{
        VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, info_.queueFamily, 1, &priority};
    VkPhysicalDevice16BitStorageFeatures storage{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
    storage.storageBuffer16BitAccess = info_.storage16;
    VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    info.pNext = &storage;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    const char* const descriptors = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME;
    if (info_.descriptors && hasExtension(info_.handle, descriptors)) {
        info.enabledExtensionCount = 1;
        info.ppEnabledExtensionNames = &descriptors;
    }
    const VkResult result = vkCreateDevice(info_.handle, &info, nullptr, &handle_);
    if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY)
        check(result, "vkCreateDevice");
    if (result != VK_SUCCESS)
        fail(Status::BackendMissing, "the Vulkan device '%s' cannot be used: vkCreateDevice gave %s (%d)",
             info_.name.c_str(), resultName(result), static_cast<int>(result));
    volkLoadDeviceTable(&api_, handle_);
    api_.vkGetDeviceQueue(handle_, info_.queueFamily, 0, &queue_);
    pipelines_.create();
}

Device::~Device() {
    pipelines_.destroy();
    memory_.destroy();
    if (usable() && !host_) api_.vkDestroyDevice(handle_, nullptr);
}

// Uses the queue for one scope: the lock is the host's where the host shares its queue.
class Device::QueueUse {
  public:
    explicit QueueUse(Device& device) : device_(device) {
        if (locked())
            device_.host_->lockQueue(device_.host_->user);
        else
            device_.queueMutex_.lock();
    }
    ~QueueUse() {
        if (locked())
            device_.host_->unlockQueue(device_.host_->user);
        else
            device_.queueMutex_.unlock();
    }
    QueueUse(const QueueUse&) = delete;
    QueueUse& operator=(const QueueUse&) = delete;

  private:
    bool locked() const noexcept { return device_.host_ && device_.host_->lockQueue; }
    Device& device_;
};

bool Device::usable() const noexcept {
    return process_ == os::processNumber();
}

Counters& Device::counters() noexcept {
    static Counters counters{};
    return counters;
}

void Device::failCall(VkResult result, const char* call) {
    if (result == VK_ERROR_DEVICE_LOST) lost_ = true;
    check(result, call);
    fail(Status::DriverError, "%s failed", call);
}

void Device::submit(std::span<const VkCommandBuffer> buffers, VkFence fence) {
    requireUsable();
    VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = static_cast<uint32_t>(buffers.size());
    submit.pCommandBuffers = buffers.data();
    check(api_.vkResetFences(handle_, 1, &fence), "vkResetFences");
    VkResult result;
    {
        const QueueUse queue(*this);
        result = api_.vkQueueSubmit(queue_, 1, &submit, fence);
    }
    if (result != VK_SUCCESS) failCall(result, "vkQueueSubmit");
    count(Count::Submits, 1);
}

bool Device::wait(VkFence fence, int64_t nanoseconds) {
    if (!usable()) requireUsable();
    constexpr uint64_t kAtOnce = 1'000'000'000;  // some drivers overflow when they add a long time to the clock
    const bool limited = nanoseconds >= 0;
    uint64_t left = limited ? static_cast<uint64_t>(nanoseconds) : kAtOnce;
    VkResult result;
    for (;;) {
        const uint64_t now = std::min(left, kAtOnce);
        result = api_.vkWaitForFences(handle_, 1, &fence, VK_TRUE, now);
        if (result != VK_TIMEOUT) break;
        // Without a limit it goes on waiting, because a large net on a slow device may take long.
        if (limited && (left -= now) == 0) return false;
    }
    if (result == VK_SUCCESS) return true;
    // Nothing of this submission may be in flight when its owner continues.
    if (result != VK_ERROR_DEVICE_LOST) {
        const QueueUse queue(*this);
        if (api_.vkQueueWaitIdle(queue_) != VK_SUCCESS) lost_ = true;
    }
    failCall(result, "vkWaitForFences");
}

void Device::requireUsable() const {
    if (!usable()) fail(Status::BadState, "this Vulkan device belongs to the process that forked this one");
    if (lost()) fail(Status::DeviceLost, "the Vulkan device '%s' was lost", info_.name.c_str());
}

}  // namespace mnnc::vulkan
