/* VkBuffers of the host's VkDevice, which tests fill and read by commands of the host. */
#ifndef MNN_C_TESTS_DEVICE_BUFFERS_H
#define MNN_C_TESTS_DEVICE_BUFFERS_H

#include "device_net.h"

enum { OFFSET = 512, ROOM = 4096 };

static struct host_vulkan host;
static mnn_runtime_t* runtime;                    /* a runtime over the host's device */
static struct host_buffer staging, in, out, back; /* staging and back are mapped */

static inline mnn_session_t* session_of(mnn_interpreter_t* model) {
    return device_session(model, runtime);
}

static inline int open_all(void** state) {
    if (open_net(state) != 0) return -1;
    const mnn_vulkan_objects_t objects = host_objects(&host);
    mnn_runtime_config_t config = default_runtime_config();
    config.vulkan = &objects;
    runtime = make_runtime(&config);
    staging = make_host_buffer(&host, ROOM, true);
    in = make_host_buffer(&host, ROOM, false);
    out = make_host_buffer(&host, ROOM, false);
    back = make_host_buffer(&host, ROOM, true);
    return 0;
}

static inline int close_all(void** state) {
    free_host_buffer(&host, &staging);
    free_host_buffer(&host, &in);
    free_host_buffer(&host, &out);
    free_host_buffer(&host, &back);
    assert_ok(mnn_runtime_destroy(&runtime));
    return close_net(state);
}

/* Copies an image into a buffer, by commands of the host. */
static inline void produce(VkCommandPool pool, VkBuffer to, VkDeviceSize offset, uint32_t seed) {
    float pixels[PIXELS];
    fill_pixels(pixels, PIXELS, seed);
    memcpy(staging.mapped, pixels, sizeof pixels);
    submit_copy(&host, pool, staging.buffer, 0, to, offset, IMAGE, VK_NULL_HANDLE, VK_NULL_HANDLE);
}

/* Fills a buffer with a value that no run may change. */
static inline void mark(struct host_buffer* buffer) {
    memset(staging.mapped, 0x5a, ROOM);
    copy_now(&host, staging.buffer, 0, buffer->buffer, 0, ROOM);
}
static inline void expect_marks(VkDeviceSize from, VkDeviceSize to) {
    for (VkDeviceSize i = from; i < to; ++i)
        if (back.mapped[i] != 0x5a) fail_msg("byte %u is %#x", (unsigned)i, back.mapped[i]);
}

/* Opens the device. It is opened once before as a trial, since a host may create instances repeatedly. */
static inline bool open_device(void) {
    struct host_vulkan probe;
    const bool there = host_vulkan_open(&probe, VK_API_VERSION_1_1);
    host_vulkan_close(&probe);
    return there && host_vulkan_open(&host, VK_API_VERSION_1_1);
}

#endif
