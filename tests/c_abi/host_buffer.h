/* Buffers of a host's VkDevice and the commands that fill and read them, as the host makes them without the library. */
#ifndef MNN_C_TESTS_HOST_BUFFER_H
#define MNN_C_TESTS_HOST_BUFFER_H

#include "host_vulkan.h"

struct host_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize bytes, memory_bytes;
    uint32_t type;
    unsigned char* mapped;
};

static const VkBufferUsageFlags kUsage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;

static inline uint64_t number_of(VkBuffer buffer) {
    uint64_t number = 0;
    memcpy(&number, &buffer, sizeof buffer);
    return number;
}

static inline uint32_t host_memory_type(struct host_vulkan* host, uint32_t allowed, VkMemoryPropertyFlags wanted) {
    HOST_FUNCTION(host, vkGetPhysicalDeviceMemoryProperties);
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(host->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; ++i)
        if (((allowed >> i) & 1u) && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
    fail_msg("no memory type of the device has the properties %#x", (unsigned)wanted);
    return 0;
}

/* `external`: memory that a file descriptor can share. fd: the descriptor of such memory, which is imported; else below
 * 0, and then memory_bytes and type are chosen here. */
static inline struct host_buffer make_host_buffer_of(struct host_vulkan* host, VkDeviceSize bytes,
                                                     VkMemoryPropertyFlags properties, bool external, int fd,
                                                     VkDeviceSize memory_bytes, uint32_t type) {
    HOST_FUNCTION(host, vkCreateBuffer);
    HOST_FUNCTION(host, vkGetBufferMemoryRequirements);
    HOST_FUNCTION(host, vkAllocateMemory);
    HOST_FUNCTION(host, vkBindBufferMemory);
    HOST_FUNCTION(host, vkMapMemory);
    const VkExternalMemoryBufferCreateInfo shared = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                     .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkExportMemoryAllocateInfo exported = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                                 .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkImportMemoryFdInfoKHR imported = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                              .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
                                              .fd = fd};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .pNext = external ? &shared : NULL,
                                     .size = bytes,
                                     .usage = kUsage};
    struct host_buffer made = {.bytes = bytes};
    assert_int_equal(vkCreateBuffer(host->device, &info, NULL, &made.buffer), VK_SUCCESS);
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(host->device, made.buffer, &needs);
    made.memory_bytes = fd < 0 ? needs.size : memory_bytes;
    made.type = fd < 0 ? host_memory_type(host, needs.memoryTypeBits, properties) : type;
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .pNext = !external ? NULL
                                                  : fd < 0  ? (const void*)&exported
                                                            : (const void*)&imported,
                                         .allocationSize = made.memory_bytes,
                                         .memoryTypeIndex = made.type};
    assert_int_equal(vkAllocateMemory(host->device, &memory, NULL, &made.memory), VK_SUCCESS);
    assert_int_equal(vkBindBufferMemory(host->device, made.buffer, made.memory, 0), VK_SUCCESS);
    if (properties & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) {
        void* mapped = NULL;
        assert_int_equal(vkMapMemory(host->device, made.memory, 0, VK_WHOLE_SIZE, 0, &mapped), VK_SUCCESS);
        made.mapped = mapped;
    }
    return made;
}

static inline struct host_buffer make_host_buffer(struct host_vulkan* host, VkDeviceSize bytes, bool visible) {
    return make_host_buffer_of(host, bytes,
                               visible ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
                                       : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                               false, -1, 0, 0);
}

static inline void free_host_buffer(struct host_vulkan* host, struct host_buffer* buffer) {
    HOST_FUNCTION(host, vkDestroyBuffer);
    HOST_FUNCTION(host, vkFreeMemory);
    vkDestroyBuffer(host->device, buffer->buffer, NULL);
    vkFreeMemory(host->device, buffer->memory, NULL);
    memset(buffer, 0, sizeof *buffer);
}

/* Submits a copy, which waits for `before` and signals `behind` where they are not null. `pool` keeps its commands
 * until the host has waited for the queue and destroys it. There are no barriers, because the library has them. */
static inline void submit_copy(struct host_vulkan* host, VkCommandPool pool, VkBuffer from, VkDeviceSize from_offset,
                               VkBuffer to, VkDeviceSize to_offset, VkDeviceSize bytes, VkSemaphore before,
                               VkSemaphore behind) {
    HOST_FUNCTION(host, vkAllocateCommandBuffers);
    HOST_FUNCTION(host, vkBeginCommandBuffer);
    HOST_FUNCTION(host, vkCmdCopyBuffer);
    HOST_FUNCTION(host, vkEndCommandBuffer);
    HOST_FUNCTION(host, vkQueueSubmit);
    const VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkBufferCopy region = {from_offset, to_offset, bytes};
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkCommandBuffer commands;
    assert_int_equal(vkAllocateCommandBuffers(host->device, &info, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    if (bytes > 0) vkCmdCopyBuffer(commands, from, to, 1, &region);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .waitSemaphoreCount = before != VK_NULL_HANDLE,
                                 .pWaitSemaphores = &before,
                                 .pWaitDstStageMask = &stage,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands,
                                 .signalSemaphoreCount = behind != VK_NULL_HANDLE,
                                 .pSignalSemaphores = &behind};
    assert_int_equal(vkQueueSubmit(host->queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
}

static inline VkCommandPool make_host_pool(struct host_vulkan* host) {
    HOST_FUNCTION(host, vkCreateCommandPool);
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = host->family};
    VkCommandPool pool = VK_NULL_HANDLE;
    assert_int_equal(vkCreateCommandPool(host->device, &info, NULL, &pool), VK_SUCCESS);
    return pool;
}

/* Waits for the queue first. */
static inline void free_host_pool(struct host_vulkan* host, VkCommandPool pool) {
    HOST_FUNCTION(host, vkDestroyCommandPool);
    HOST_FUNCTION(host, vkQueueWaitIdle);
    assert_int_equal(vkQueueWaitIdle(host->queue), VK_SUCCESS);
    vkDestroyCommandPool(host->device, pool, NULL);
}

/* Copies and waits. */
static inline void copy_now(struct host_vulkan* host, VkBuffer from, VkDeviceSize from_offset, VkBuffer to,
                            VkDeviceSize to_offset, VkDeviceSize bytes) {
    const VkCommandPool pool = make_host_pool(host);
    submit_copy(host, pool, from, from_offset, to, to_offset, bytes, VK_NULL_HANDLE, VK_NULL_HANDLE);
    free_host_pool(host, pool);
}

/* Returns a part of a host's buffer in the form that the library takes. */
static inline mnn_device_buffer_t part_of(const struct host_buffer* buffer, uint64_t offset, uint64_t bytes) {
    mnn_device_buffer_t part;
    assert_ok(mnn_device_buffer_init(&part, sizeof part));
    part.kind = MNN_BUFFER_VULKAN;
    part.buffer = number_of(buffer->buffer);
    part.offset = offset;
    part.bytes = bytes;
    return part;
}

static inline mnn_device_buffer_t buffer_to_make(int32_t kind) {
    mnn_device_buffer_t made;
    assert_ok(mnn_device_buffer_init(&made, sizeof made));
    made.kind = kind;
    made.allocate = 1;
    return made;
}

static inline mnn_device_buffer_t buffer_of(const mnn_tensor_t* tensor, int32_t kind) {
    mnn_device_buffer_t found = {.struct_size = sizeof found, .kind = kind};
    assert_ok(mnn_tensor_device_buffer(tensor, &found));
    assert_int_equal(found.kind, kind);
    return found;
}

static inline VkBuffer handle_of(const mnn_device_buffer_t* buffer) {
    VkBuffer handle;
    memcpy(&handle, &buffer->buffer, sizeof handle);
    return handle;
}

#endif
