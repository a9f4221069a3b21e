/* A Vulkan driver that only lists devices, COUNTING_DRIVER_DEVICES of them, or the first where the environment has
 * COUNTING_DRIVER_ONE, and counts the VkInstances that are made from it. probe_test points the loader to it. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_icd.h>
#include <vulkan/vulkan.h>

#define EXPORTED __attribute__((visibility("default")))

/* The loader writes into the first word of each object. */
struct object {
    VK_LOADER_DATA loader;
};
static struct object instance_object, device_objects[COUNTING_DRIVER_DEVICES + 1];

EXPORTED int counting_driver_instances = 0;

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                                      const VkAllocationCallbacks* allocator, VkInstance* instance) {
    (void)info, (void)allocator;
    ++counting_driver_instances;
    instance_object.loader.loaderMagic = ICD_LOADER_MAGIC;
    *instance = (VkInstance)&instance_object;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance, const VkAllocationCallbacks* allocator) {
    (void)instance, (void)allocator;
}

static VKAPI_ATTR VkResult VKAPI_CALL no_instance_extensions(const char* layer, uint32_t* count,
                                                             VkExtensionProperties* list) {
    (void)layer, (void)list;
    *count = 0;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL no_device_extensions(VkPhysicalDevice device, const char* layer, uint32_t* count,
                                                           VkExtensionProperties* list) {
    (void)device, (void)layer, (void)list;
    *count = 0;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL version(uint32_t* number) {
    *number = VK_API_VERSION_1_1;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL list_devices(VkInstance instance, uint32_t* count, VkPhysicalDevice* devices) {
    (void)instance;
    const uint32_t there = getenv("COUNTING_DRIVER_ONE") ? 1 : COUNTING_DRIVER_DEVICES;
    const uint32_t written = !devices ? 0 : *count < there ? *count : there;
    for (uint32_t i = 0; i < written; ++i) {
        device_objects[i].loader.loaderMagic = ICD_LOADER_MAGIC;
        devices[i] = (VkPhysicalDevice)&device_objects[i];
    }
    *count = devices ? written : there;
    return devices && written != there ? VK_INCOMPLETE : VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice device, VkPhysicalDeviceProperties* info) {
    memset(info, 0, sizeof *info);
    info->apiVersion = VK_API_VERSION_1_1;
    info->deviceType = VK_PHYSICAL_DEVICE_TYPE_CPU;
    strcpy(info->deviceName, "counting device 0");
    info->deviceName[strlen(info->deviceName) - 1] = (char)('0' + (int)((struct object*)device - device_objects));
}

static VKAPI_ATTR void VKAPI_CALL properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2* info) {
    properties(device, &info->properties);
}

static VKAPI_ATTR void VKAPI_CALL features(VkPhysicalDevice device, VkPhysicalDeviceFeatures* info) {
    (void)device;
    memset(info, 0, sizeof *info);
}

static VKAPI_ATTR void VKAPI_CALL features2(VkPhysicalDevice device, VkPhysicalDeviceFeatures2* info) {
    features(device, &info->features);
}

static VKAPI_ATTR void VKAPI_CALL families(VkPhysicalDevice device, uint32_t* count, VkQueueFamilyProperties* list) {
    (void)device;
    if (list && *count > 0) {
        memset(list, 0, sizeof *list);
        list->queueFlags = VK_QUEUE_COMPUTE_BIT;
        list->queueCount = 1;
    }
    *count = 1;
}

static VKAPI_ATTR void VKAPI_CALL memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties* info) {
    (void)device;
    memset(info, 0, sizeof *info);
    info->memoryHeapCount = info->memoryTypeCount = 1;
    info->memoryHeaps[0].size = 1 << 20;
    info->memoryHeaps[0].flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT;
}

static VKAPI_ATTR void VKAPI_CALL external_buffers(VkPhysicalDevice device,
                                                   const VkPhysicalDeviceExternalBufferInfo* wanted,
                                                   VkExternalBufferProperties* info) {
    (void)device, (void)wanted;
    memset(&info->externalMemoryProperties, 0, sizeof info->externalMemoryProperties);
}

/* The loader requires these functions; nothing calls them. */
static VKAPI_ATTR VkResult VKAPI_CALL unused(void) {
    return VK_ERROR_INITIALIZATION_FAILED;
}

static PFN_vkVoidFunction find(const char* name) {
    static const struct {
        const char* name;
        PFN_vkVoidFunction function;
    } kFunctions[] = {
        {"vkCreateInstance", (PFN_vkVoidFunction)create_instance},
        {"vkDestroyInstance", (PFN_vkVoidFunction)destroy_instance},
        {"vkEnumerateInstanceExtensionProperties", (PFN_vkVoidFunction)no_instance_extensions},
        {"vkEnumerateInstanceVersion", (PFN_vkVoidFunction)version},
        {"vkEnumeratePhysicalDevices", (PFN_vkVoidFunction)list_devices},
        {"vkEnumerateDeviceExtensionProperties", (PFN_vkVoidFunction)no_device_extensions},
        {"vkGetPhysicalDeviceProperties", (PFN_vkVoidFunction)properties},
        {"vkGetPhysicalDeviceProperties2", (PFN_vkVoidFunction)properties2},
        {"vkGetPhysicalDeviceFeatures", (PFN_vkVoidFunction)features},
        {"vkGetPhysicalDeviceFeatures2", (PFN_vkVoidFunction)features2},
        {"vkGetPhysicalDeviceQueueFamilyProperties", (PFN_vkVoidFunction)families},
        {"vkGetPhysicalDeviceMemoryProperties", (PFN_vkVoidFunction)memory},
        {"vkGetPhysicalDeviceExternalBufferProperties", (PFN_vkVoidFunction)external_buffers},
        {"vkGetPhysicalDeviceFormatProperties", (PFN_vkVoidFunction)unused},
        {"vkGetPhysicalDeviceImageFormatProperties", (PFN_vkVoidFunction)unused},
        {"vkGetPhysicalDeviceSparseImageFormatProperties", (PFN_vkVoidFunction)unused},
        {"vkCreateDevice", (PFN_vkVoidFunction)unused},
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)unused},
    };
    for (size_t i = 0; i < sizeof kFunctions / sizeof *kFunctions; ++i)
        if (strcmp(kFunctions[i].name, name) == 0) return kFunctions[i].function;
    return NULL;
}

EXPORTED VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance, const char* name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance, const char* name) {
    (void)instance;
    return find(name);
}

EXPORTED VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t* wanted);
VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t* wanted) {
    if (*wanted > 3) *wanted = 3;
    return VK_SUCCESS;
}
