// Loads the Vulkan loader, creates the VkInstance, and chooses physical devices.
#include "backends/vulkan/device/instance.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "backends/vulkan/device/driver_libraries.h"
#include "backends/vulkan/device/driver_surroundings.h"
#include "backends/vulkan/device/found_devices.h"
#include "backends/vulkan/device/result.h"
#include "base/error.h"
#include "base/os/libraries.h"
#include "base/os/threads.h"

namespace mnnc::vulkan {

namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

std::mutex& sharedMutex() {
    static std::mutex mutex;
    return mutex;
}

std::atomic<uint64_t> messages{0};

bool validationWanted() {
    const char* value = std::getenv("MNN_C_VULKAN_VALIDATION");
    return value && *value && std::strcmp(value, "0") != 0;
}

VKAPI_ATTR VkBool32 VKAPI_CALL onMessage(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                         const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
    ++messages;
    std::fprintf(stderr, "vulkan validation: %s\n", data && data->pMessage ? data->pMessage : "(no text)");
    return VK_FALSE;
}

bool layerPresent(const char* name) {
    uint32_t count = 0;
    if (vkEnumerateInstanceLayerProperties(&count, nullptr) != VK_SUCCESS) return false;
    std::vector<VkLayerProperties> layers(count);
    if (count && vkEnumerateInstanceLayerProperties(&count, layers.data()) != VK_SUCCESS) return false;
    return std::any_of(layers.begin(), layers.end(),
                       [&](const VkLayerProperties& layer) { return std::strcmp(layer.layerName, name) == 0; });
}

bool extensionPresent(const char* layer, const char* name) {
    uint32_t count = 0;
    if (vkEnumerateInstanceExtensionProperties(layer, &count, nullptr) != VK_SUCCESS) return false;
    std::vector<VkExtensionProperties> extensions(count);
    if (count && vkEnumerateInstanceExtensionProperties(layer, &count, extensions.data()) != VK_SUCCESS) return false;
    return std::any_of(extensions.begin(), extensions.end(), [&](const VkExtensionProperties& extension) {
        return std::strcmp(extension.extensionName, name) == 0;
    });
}

void loadLoader() {
    if (volkInitialize() != VK_SUCCESS)
        fail(Status::BackendMissing, "the Vulkan loader (%s) is not installed", os::kVulkanLoader);
}

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return text;
}

}  // namespace

DeviceInfo describeHostDevice(const HostVulkan& host) {
    const auto instance = static_cast<VkInstance>(host.instance);
    const auto wanted = static_cast<VkPhysicalDevice>(host.physicalDevice);
    {
        const std::lock_guard lock(sharedMutex());
        loadLoader();
        // This function belongs to the loader and is the same for every instance.
        if (!vkGetDeviceProcAddr)
            vkGetDeviceProcAddr =
                reinterpret_cast<PFN_vkGetDeviceProcAddr>(vkGetInstanceProcAddr(instance, "vkGetDeviceProcAddr"));
    }
    const InstanceApi api(instance);
    if (!api || !vkGetDeviceProcAddr)
        fail(Status::NotSupported, "the VkInstance of the host has no functions of Vulkan 1.1");
    const std::vector<VkPhysicalDevice> known = physicalDevices(api, instance);
    if (std::find(known.begin(), known.end(), wanted) == known.end())
        fail(Status::InvalidValue, "the VkPhysicalDevice is none of the %zu of the VkInstance", known.size());
    DeviceInfo info;
    if (!describe(api, wanted, info))
        fail(Status::NotSupported, "the Vulkan device of the host is older than Vulkan 1.1");
    const std::vector<VkQueueFamilyProperties> families = queueFamilies(api, wanted);
    if (host.queueFamily >= families.size())
        fail(Status::InvalidValue, "queue_family is %u, but the device '%s' has %zu", host.queueFamily,
             info.name.c_str(), families.size());
    if (!(families[host.queueFamily].queueFlags & VK_QUEUE_COMPUTE_BIT))
        fail(Status::NotSupported, "queue family %u of the device '%s' cannot compute", host.queueFamily,
             info.name.c_str());
    if (host.storage16 && !info.storage16)
        fail(Status::InvalidValue, "the device '%s' has no 16-bit storage buffers", info.name.c_str());
    info.queueFamily = host.queueFamily;
    info.timestampBits = families[host.queueFamily].timestampValidBits;
    info.storage16 = host.storage16;
    return info;
}

std::shared_ptr<Instance> Instance::get() {
    static std::weak_ptr<Instance> shared;
    const std::lock_guard lock(sharedMutex());
    if (auto alive = shared.lock()) {
        if (alive->process_ == os::processNumber()) return alive;
        fail(Status::BackendMissing, "Vulkan was in use when this process was forked; a fork cannot use it");
    }
    // The object and its control block are one allocation: if a separate control block could not be allocated, the
    // finished instance would be destroyed here, and its destructor takes the lock.
    struct Shareable final : Instance {};
    const auto instance = std::make_shared<Shareable>();
    shared = instance;
    return instance;
}

Instance::Instance() : process_(os::processNumber()) {
    loadLoader();
    const uint64_t surroundings = driverSurroundings();
    try {
        create();
        keepFound(surroundings, {describe(devices_), {}});
    } catch (const Error& error) {
        destroy();
        if (error.status() == Status::BackendMissing) keepFound(surroundings, {{}, error.message()});
        throw;
    } catch (...) {
        destroy();
        throw;
    }
}

void Instance::destroy() noexcept {
    if (messenger_) vkDestroyDebugUtilsMessengerEXT(handle_, messenger_, nullptr);
    if (handle_) vkDestroyInstance(handle_, nullptr);
}

void Instance::create() {
    const uint32_t version = std::min<uint32_t>(volkGetInstanceVersion(), VK_API_VERSION_1_3);
    if (version < VK_API_VERSION_1_1) fail(Status::BackendMissing, "the Vulkan loader is older than version 1.1");

    const VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO, nullptr, nullptr, 0, "mnn_c", 0, version};
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pApplicationInfo = &application;
    std::vector<const char*> extensions;
    const bool validate = validationWanted();
    if (validate) {
        if (!layerPresent(kValidationLayer))
            fail(Status::BackendMissing, "the Vulkan validation layer (%s) is not installed", kValidationLayer);
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = &kValidationLayer;
        extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    }
    if (extensionPresent(nullptr, "VK_KHR_portability_enumeration")) {
        extensions.push_back("VK_KHR_portability_enumeration");
        info.flags |= 1;  // VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR
    }
    info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    if (const VkResult result = vkCreateInstance(&info, nullptr, &handle_); result != VK_SUCCESS) {
        handle_ = VK_NULL_HANDLE;
        if (result == VK_ERROR_OUT_OF_HOST_MEMORY) check(result, "vkCreateInstance");
        fail(Status::BackendMissing, "there is no usable Vulkan driver: vkCreateInstance gave %s (%d)",
             resultName(result), static_cast<int>(result));
    }
    volkLoadInstanceOnly(handle_);
    if (validate) {
        VkDebugUtilsMessengerCreateInfoEXT messenger{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
        messenger.messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
        messenger.messageType =
            VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
        messenger.pfnUserCallback = onMessage;
        check(vkCreateDebugUtilsMessengerEXT(handle_, &messenger, nullptr, &messenger_),
              "vkCreateDebugUtilsMessengerEXT");
    }
    listDevices();
    keepDriversLoaded();
    if (devices_.empty())
        fail(Status::BackendMissing, "no Vulkan driver offers a device with a compute queue and Vulkan 1.1");
}

void Instance::listDevices() {
    const InstanceApi api(handle_);
    for (const VkPhysicalDevice handle : physicalDevices(api, handle_)) {
        DeviceInfo info;
        if (describe(api, handle, info) && findQueueFamily(api, handle, info)) devices_.push_back(std::move(info));
    }
}

Instance::~Instance() {
    if (process_ != os::processNumber()) return;  // after a fork the handles belong to the parent
    const std::lock_guard lock(sharedMutex());
    destroy();
}

size_t Instance::choose(const std::string& wanted, bool software) const {
    if (wanted.empty()) {
        const auto better = [](const DeviceInfo& a, const DeviceInfo& b) {
            return std::pair(typeRank(a.type), a.localBytes) < std::pair(typeRank(b.type), b.localBytes);
        };
        const auto best = std::max_element(devices_.begin(), devices_.end(), better);
        if (!software && best->type == VK_PHYSICAL_DEVICE_TYPE_CPU)
            fail(Status::BackendMissing, "there are only software Vulkan devices, which have to be asked for");
        return static_cast<size_t>(best - devices_.begin());
    }
    size_t index = 0;
    const char* end = wanted.data() + wanted.size();
    const bool number = std::from_chars(wanted.data(), end, index).ptr == end;
    if (number && wanted.size() < 10) {
        if (index < devices_.size()) return index;
        fail(Status::BackendMissing, "there is no Vulkan device %zu, there are %zu", index, devices_.size());
    }
    for (size_t i = 0; i < devices_.size(); ++i)
        if (devices_[i].uuidText() == lower(wanted)) return i;
    for (size_t i = 0; i < devices_.size(); ++i)
        if (lower(devices_[i].name).find(lower(wanted)) != std::string::npos) return i;
    std::string known;
    for (const DeviceInfo& device : devices_) known += (known.empty() ? "'" : ", '") + device.name + "'";
    fail(Status::BackendMissing, "no Vulkan device is called '%s'; there is %s", wanted.c_str(), known.c_str());
}

uint64_t Instance::validationMessages() noexcept {
    return messages;
}

}  // namespace mnnc::vulkan
