/* Vulkan objects that a host creates without the library: an instance with the validation layer where it is installed,
 * a device, a queue. */
#ifndef MNN_C_TESTS_HOST_VULKAN_H
#define MNN_C_TESTS_HOST_VULKAN_H

#include "support.h"

#include <dlfcn.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

struct host_vulkan {
    PFN_vkGetInstanceProcAddr load;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family, families;
    bool storage16, validated;
    bool descriptors; /* the device has VK_KHR_external_memory_fd */
    VkDebugUtilsMessengerEXT messenger;
    int messages; /* of the validation layer */
    int locks, depth, wrong, finalized;
};

static inline VKAPI_ATTR VkBool32 VKAPI_CALL host_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                          VkDebugUtilsMessageTypeFlagsEXT type,
                                                          const VkDebugUtilsMessengerCallbackDataEXT* data,
                                                          void* user_data) {
    (void)severity, (void)type;
    ++((struct host_vulkan*)user_data)->messages;
    print_error("validation: %s\n", data && data->pMessage ? data->pMessage : "?");
    return VK_FALSE;
}

#define HOST_FUNCTION(host, name) PFN_##name name = (PFN_##name)(host)->load((host)->instance, #name)

static inline bool host_layer_present(const struct host_vulkan* host, const char* wanted) {
    VkLayerProperties layers[64];
    uint32_t count = 64;
    PFN_vkEnumerateInstanceLayerProperties list =
        (PFN_vkEnumerateInstanceLayerProperties)host->load(NULL, "vkEnumerateInstanceLayerProperties");
    if (!list || list(&count, layers) < 0) return false;
    for (uint32_t i = 0; i < count; ++i)
        if (strcmp(layers[i].layerName, wanted) == 0) return true;
    return false;
}

static inline bool host_extension_present(const struct host_vulkan* host, VkPhysicalDevice device, const char* wanted) {
    HOST_FUNCTION(host, vkEnumerateDeviceExtensionProperties);
    uint32_t count = 0;
    if (vkEnumerateDeviceExtensionProperties(device, NULL, &count, NULL) < 0) return false;
    VkExtensionProperties* extensions = calloc(count + 1, sizeof *extensions);
    bool found = vkEnumerateDeviceExtensionProperties(device, NULL, &count, extensions) >= 0;
    uint32_t at = 0;
    while (found && at < count && strcmp(extensions[at].extensionName, wanted) != 0) ++at;
    found = found && at < count;
    free(extensions);
    return found;
}

/* Returns false when there is no loader, no driver or no device that can compute. `version`: of the application.
 * `descriptors`: whether to enable the extension for memory that is shared by file descriptors, if it exists. */
static inline bool host_vulkan_open_with(struct host_vulkan* host, uint32_t version, bool descriptors) {
    memset(host, 0, sizeof *host);
#ifdef _WIN32
    const char* const name = "vulkan-1.dll";
#else
    const char* const name = "libvulkan.so.1";
#endif
    void* loader = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!loader) return false;
    void* symbol = dlsym(loader, "vkGetInstanceProcAddr");
    memcpy(&host->load, &symbol, sizeof symbol);
    const char* layer = "VK_LAYER_KHRONOS_validation";
    const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = host_message,
        .pUserData = host};
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = version};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    host->validated = host_layer_present(host, layer);
    if (host->validated) {
        info.enabledLayerCount = info.enabledExtensionCount = 1;
        info.ppEnabledLayerNames = &layer;
        info.ppEnabledExtensionNames = &extension;
    }
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)host->load(NULL, "vkCreateInstance");
    if (!create || create(&info, NULL, &host->instance) != VK_SUCCESS) return false;
    if (host->validated) {
        HOST_FUNCTION(host, vkCreateDebugUtilsMessengerEXT);
        assert_int_equal(vkCreateDebugUtilsMessengerEXT(host->instance, &messenger, NULL, &host->messenger), 0);
    }
    HOST_FUNCTION(host, vkEnumeratePhysicalDevices);
    HOST_FUNCTION(host, vkGetPhysicalDeviceProperties);
    HOST_FUNCTION(host, vkGetPhysicalDeviceQueueFamilyProperties);
    HOST_FUNCTION(host, vkGetPhysicalDeviceFeatures2);
    HOST_FUNCTION(host, vkCreateDevice);
    VkPhysicalDevice devices[16];
    uint32_t count = 16;
    if (vkEnumeratePhysicalDevices(host->instance, &count, devices) < 0) return false;
    for (uint32_t i = 0; i < count && !host->device; ++i) {
        VkPhysicalDeviceProperties properties;
        VkQueueFamilyProperties families[16];
        vkGetPhysicalDeviceProperties(devices[i], &properties);
        host->families = 16;
        vkGetPhysicalDeviceQueueFamilyProperties(devices[i], &host->families, families);
        if (properties.apiVersion < VK_API_VERSION_1_1) continue;
        host->family = 0;
        while (host->family < host->families && !(families[host->family].queueFlags & VK_QUEUE_COMPUTE_BIT))
            ++host->family;
        if (host->family == host->families) continue;
        VkPhysicalDevice16BitStorageFeatures storage = {.sType =
                                                            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
        VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &storage};
        vkGetPhysicalDeviceFeatures2(devices[i], &features);
        host->storage16 = storage.storageBuffer16BitAccess;
        const VkPhysicalDevice16BitStorageFeatures wanted = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
            .storageBuffer16BitAccess = host->storage16};
        const float priority = 1;
        const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                               .queueFamilyIndex = host->family,
                                               .queueCount = 1,
                                               .pQueuePriorities = &priority};
        const char* extension_of_device = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME;
        host->descriptors = descriptors && host_extension_present(host, devices[i], extension_of_device);
        const VkDeviceCreateInfo made = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                         .pNext = &wanted,
                                         .enabledExtensionCount = host->descriptors,
                                         .ppEnabledExtensionNames = &extension_of_device,
                                         .queueCreateInfoCount = 1,
                                         .pQueueCreateInfos = &queue};
        host->physical = devices[i];
        if (vkCreateDevice(devices[i], &made, NULL, &host->device) != VK_SUCCESS) host->device = NULL;
    }
    if (!host->device) return false;
    HOST_FUNCTION(host, vkGetDeviceQueue);
    vkGetDeviceQueue(host->device, host->family, 0, &host->queue);
    return true;
}

static inline bool host_vulkan_open(struct host_vulkan* host, uint32_t version) {
    return host_vulkan_open_with(host, version, false);
}

/* The validation layer reports objects of the device that are left. */
static inline void host_vulkan_close(struct host_vulkan* host) {
    if (host->device) {
        HOST_FUNCTION(host, vkDestroyDevice);
        HOST_FUNCTION(host, vkDeviceWaitIdle);
        assert_int_equal(vkDeviceWaitIdle(host->device), VK_SUCCESS);
        vkDestroyDevice(host->device, NULL);
    }
    if (host->messenger) {
        HOST_FUNCTION(host, vkDestroyDebugUtilsMessengerEXT);
        vkDestroyDebugUtilsMessengerEXT(host->instance, host->messenger, NULL);
    }
    if (host->instance) {
        HOST_FUNCTION(host, vkDestroyInstance);
        vkDestroyInstance(host->instance, NULL);
    }
}

/* Closes it. Returns the exit status of a program whose group of tests had so many failures; a message of the layer
 * counts as one. */
static inline int host_vulkan_finish(struct host_vulkan* host, int failed) {
    host_vulkan_close(host);
    if (!host->messages) return failed;
    print_error("%d messages of the validation layer\n", host->messages);
    return failed + 1;
}

/* Does the host's own work on its queue. */
static inline void host_vulkan_use(struct host_vulkan* host) {
    HOST_FUNCTION(host, vkQueueSubmit);
    HOST_FUNCTION(host, vkQueueWaitIdle);
    assert_int_equal(vkQueueSubmit(host->queue, 0, NULL, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(vkQueueWaitIdle(host->queue), VK_SUCCESS);
}

static inline void host_lock(void* user_data) {
    struct host_vulkan* host = user_data;
    ++host->locks;
    if (++host->depth != 1) ++host->wrong;
}

static inline void host_unlock(void* user_data) {
    struct host_vulkan* host = user_data;
    if (--host->depth != 0) ++host->wrong;
}

static inline void host_finalize(void* user_data) {
    ++((struct host_vulkan*)user_data)->finalized;
}

static inline mnn_vulkan_objects_t host_objects(struct host_vulkan* host) {
    mnn_vulkan_objects_t objects;
    assert_ok(mnn_vulkan_objects_init(&objects, sizeof objects));
    objects.instance = host->instance;
    objects.physical_device = host->physical;
    objects.device = host->device;
    objects.queue = host->queue;
    objects.queue_family = host->family;
    objects.storage_16bit = host->storage16;
    objects.lock_queue = host_lock;
    objects.unlock_queue = host_unlock;
    objects.user_data = host;
    objects.finalizer = host_finalize;
    return objects;
}

#endif
