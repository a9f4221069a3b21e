/* Inputs and outputs in memory that another VkDevice uses, too, shared by file descriptors: exported by the session and
 * imported by the host, exported by the host and imported by a session of the library's own VkDevice and of the host's,
 * and invalid descriptors. Skipped (exit code 77) where there is no device; a library without Vulkan takes none. */
#include "runtime.h"

#ifndef MNN_C_TEST_VULKAN

/* A library without another backend than the CPU takes no descriptor and makes none. */
static void no_descriptors(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    fill_pixels(pixels, PIXELS, 5);
    classify(session, pixels, 1, wanted);
    mnn_device_buffer_t buffer;
    assert_ok(mnn_device_buffer_init(&buffer, sizeof buffer));
    buffer.kind = MNN_BUFFER_OPAQUE_FD;
    buffer.bytes = buffer.memory_bytes = sizeof pixels;
    for (buffer.fd = -1; buffer.fd < 2; ++buffer.fd) {
        for (buffer.allocate = 0; buffer.allocate < 2; ++buffer.allocate) {
            assert_fails(mnn_session_bind_input_buffer(session, first_input(session), &buffer),
                         MNN_ERROR_NOT_SUPPORTED);
            assert_fails(mnn_session_bind_output_buffer(session, first_output(session), &buffer),
                         MNN_ERROR_NOT_SUPPORTED);
        }
    }
    assert_fails(mnn_tensor_device_buffer(first_input(session), &buffer), MNN_ERROR_NOT_SUPPORTED);
    assert_fails(mnn_tensor_device_buffer(first_output(session), &buffer), MNN_ERROR_NOT_SUPPORTED);
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_descriptors)};
    return cmocka_run_group_tests(tests, open_net, close_net);
}

#else

#include <fcntl.h>
#include <unistd.h>

#include "device_net.h"

enum { SKIPPED = 77, OFFSET = 1024, ROOM = 8192 };
static const VkMemoryPropertyFlags kVisible =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

static struct host_vulkan host; /* another VkDevice than that of the sessions */

/* Imports memory of a session on the host. The host's driver then owns the descriptor. */
static struct host_buffer take(const mnn_device_buffer_t* shared) {
    assert_true(shared->fd >= 0);
    assert_true(shared->buffer == 0 && shared->memory == 0);
    return make_host_buffer_of(&host, shared->offset + shared->bytes, kVisible, true, shared->fd, shared->memory_bytes,
                               shared->memory_type);
}

static void made_by_the_session(void** state) {
    (void)state;
    mnn_session_t* session = device_session(net, NULL);
    const mnn_device_buffer_t made = buffer_to_make(MNN_BUFFER_OPAQUE_FD);
    assert_ok(bind_in(session, &made));
    assert_ok(bind_out(session, &made));
    const mnn_device_buffer_t from = buffer_of(first_input(session), MNN_BUFFER_OPAQUE_FD);
    const mnn_device_buffer_t to = buffer_of(first_output(session), MNN_BUFFER_OPAQUE_FD);
    const mnn_device_buffer_t again = buffer_of(first_output(session), MNN_BUFFER_OPAQUE_FD);
    assert_int_not_equal(again.fd, to.fd);
    assert_int_equal(close(again.fd), 0);
    assert_int_equal(from.bytes, IMAGE);
    assert_int_equal(to.bytes, SCORES);
    struct host_buffer images = take(&from), scores = take(&to);
    for (uint32_t seed = 1; seed < 4; ++seed) {
        float pixels[PIXELS];
        fill_pixels(pixels, PIXELS, seed);
        memcpy(images.mapped, pixels, sizeof pixels);
        assert_ok(mnn_session_run(session));
        expect_scores(scores.mapped, seed);
    }
    /* The memory on the host's side remains when the session is destroyed. */
    assert_ok(mnn_session_destroy(&session));
    expect_scores(scores.mapped, 3);
    free_host_buffer(&host, &images);
    free_host_buffer(&host, &scores);
}

static mnn_device_buffer_t share(const struct host_buffer* buffer, uint64_t offset, uint64_t bytes) {
    HOST_FUNCTION(&host, vkGetDeviceProcAddr);
    PFN_vkGetMemoryFdKHR vkGetMemoryFdKHR = (PFN_vkGetMemoryFdKHR)vkGetDeviceProcAddr(host.device, "vkGetMemoryFdKHR");
    const VkMemoryGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                       .memory = buffer->memory,
                                       .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    mnn_device_buffer_t shared;
    assert_ok(mnn_device_buffer_init(&shared, sizeof shared));
    assert_int_equal(vkGetMemoryFdKHR(host.device, &info, &shared.fd), VK_SUCCESS);
    shared.kind = MNN_BUFFER_OPAQUE_FD;
    shared.offset = offset;
    shared.bytes = bytes;
    shared.memory_bytes = buffer->memory_bytes;
    shared.memory_type = buffer->type;
    return shared;
}

static void run_in(mnn_session_t* session, const struct host_buffer* memory) {
    mnn_device_buffer_t from = share(memory, OFFSET, IMAGE), to = share(memory, 0, SCORES);
    memset(memory->mapped, 0x5a, ROOM);
    assert_ok(bind_in(session, &from));
    assert_ok(bind_out(session, &to));
    /* The host still owns them. */
    assert_int_equal(close(from.fd), 0);
    assert_int_equal(close(to.fd), 0);
    for (uint32_t seed = 10; seed < 13; ++seed) {
        float pixels[PIXELS];
        fill_pixels(pixels, PIXELS, seed);
        memcpy(memory->mapped + OFFSET, pixels, sizeof pixels);
        assert_ok(mnn_session_submit(session, NULL));
        assert_ok(mnn_session_wait(session, -1));
        expect_scores(memory->mapped, seed);
        for (int i = SCORES; i < OFFSET; ++i) assert_int_equal(memory->mapped[i], 0x5a);
    }
    mnn_device_buffer_t found = {.struct_size = sizeof found, .kind = MNN_BUFFER_OPAQUE_FD};
    assert_fails(mnn_tensor_device_buffer(first_output(session), &found), MNN_ERROR_BAD_STATE);
    assert_ok(bind_in(session, NULL));
    assert_ok(bind_out(session, NULL));
}

static void made_by_the_host(void** state) {
    (void)state;
    struct host_buffer memory = make_host_buffer_of(&host, ROOM, kVisible, true, -1, 0, 0);
    mnn_session_t* session = device_session(net, NULL);
    run_in(session, &memory);
    assert_ok(mnn_session_destroy(&session));
    const mnn_vulkan_objects_t objects = host_objects(&host);
    mnn_runtime_config_t config = default_runtime_config();
    config.vulkan = &objects;
    mnn_runtime_t* runtime = make_runtime(&config);
    session = device_session(net, runtime);
    run_in(session, &memory);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_runtime_destroy(&runtime));
    free_host_buffer(&host, &memory);
}

static void wrong_descriptors(void** state) {
    (void)state;
    struct host_buffer memory = make_host_buffer_of(&host, ROOM, kVisible, true, -1, 0, 0);
    mnn_session_t* session = device_session(net, NULL);
    const mnn_device_buffer_t right = share(&memory, OFFSET, IMAGE);
    mnn_device_buffer_t part;
#define REFUSED(change, wanted)                        \
    do {                                               \
        part = right;                                  \
        change;                                        \
        assert_fails(bind_in(session, &part), wanted); \
    } while (0)
    REFUSED(part.fd = -1, MNN_ERROR_INVALID_VALUE);
    REFUSED(part.fd = 1000000, MNN_ERROR_INVALID_VALUE);
    const int other = open("/dev/null", O_RDWR);
    REFUSED(part.fd = other, MNN_ERROR_INVALID_VALUE);
    assert_int_equal(close(other), 0);
    REFUSED(part.memory_bytes = 0, MNN_ERROR_INVALID_VALUE);
    REFUSED(part.memory_bytes = OFFSET + IMAGE - 1, MNN_ERROR_INVALID_VALUE);
    REFUSED(part.memory_bytes = UINT64_MAX, MNN_ERROR_INVALID_VALUE);
    REFUSED(part.memory_type = 1000, MNN_ERROR_INVALID_VALUE);
    REFUSED(part.offset = OFFSET + 1, MNN_ERROR_INVALID_VALUE);
    REFUSED(part.offset = UINT64_MAX - 1023, MNN_ERROR_INVALID_VALUE);
    REFUSED(part.bytes = IMAGE - 1, MNN_ERROR_BUFFER_TOO_SMALL);
    REFUSED(part.bytes = UINT64_MAX, MNN_ERROR_INVALID_VALUE);
    REFUSED(part.kind = MNN_BUFFER_VULKAN, MNN_ERROR_NULL_ARGUMENT);
#undef REFUSED
    mnn_device_buffer_t found = {.struct_size = sizeof found, .kind = MNN_BUFFER_OPAQUE_FD};
    assert_fails(mnn_tensor_device_buffer(first_output(session), &found), MNN_ERROR_BAD_STATE);
    assert_ok(bind_in(session, &right));
    assert_int_equal(close(right.fd), 0);
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_destroy(&session));
    free_host_buffer(&host, &memory);
}

/* Memory that the session exports counts. */
static void within_the_limit(void** state) {
    (void)state;
    mnn_session_t* session = device_session(net, NULL);
    mnn_statistics_t before = {.struct_size = sizeof before}, after = before;
    const mnn_device_buffer_t made = buffer_to_make(MNN_BUFFER_OPAQUE_FD);
    before = statistics_of(session);
    assert_ok(bind_in(session, &made));
    after = statistics_of(session);
    assert_int_equal(after.memory_bytes, before.memory_bytes + IMAGE);
    assert_ok(bind_in(session, NULL));
    after = statistics_of(session);
    assert_int_equal(after.memory_bytes, before.memory_bytes);
    assert_ok(mnn_session_destroy(&session));
}

/* The driver has no such memory: this is reported, and nothing else is tried. */
static void without_the_extension(void** state) {
    (void)state;
    mnn_session_t* session = device_session(net, NULL);
    const mnn_device_buffer_t made = buffer_to_make(MNN_BUFFER_OPAQUE_FD);
    assert_fails(bind_in(session, &made), MNN_ERROR_NOT_SUPPORTED);
    assert_fails(bind_out(session, &made), MNN_ERROR_NOT_SUPPORTED);
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    if (!host_vulkan_open_with(&host, VK_API_VERSION_1_1, true)) return SKIPPED;
    const struct CMUnitTest with[] = {
        cmocka_unit_test(made_by_the_session),
        cmocka_unit_test(made_by_the_host),
        cmocka_unit_test(wrong_descriptors),
        cmocka_unit_test(within_the_limit),
    };
    const struct CMUnitTest without[] = {cmocka_unit_test(without_the_extension)};
    const int failed = host.descriptors ? cmocka_run_group_tests(with, open_net, close_net)
                                        : cmocka_run_group_tests(without, open_net, close_net);
    return host_vulkan_finish(&host, failed);
}

#endif
