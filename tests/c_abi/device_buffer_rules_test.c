/* Inputs and outputs in VkBuffers of the host's VkDevice: the duration of bindings, and refused calls. Skipped (exit
 * code 77) where there is no device. */
#include "runtime.h"

#ifndef MNN_C_TEST_VULKAN

/* A session on the CPU, and a library without another backend, reports it. */
static void nothing_to_run_on(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_device_buffer_t buffer;
    assert_ok(mnn_device_buffer_init(&buffer, sizeof buffer));
    buffer.kind = MNN_BUFFER_VULKAN;
    buffer.allocate = 1;
    assert_fails(mnn_session_bind_input_buffer(session, first_input(session), &buffer), MNN_ERROR_NOT_SUPPORTED);
    assert_fails(mnn_session_bind_output_buffer(session, first_output(session), &buffer), MNN_ERROR_NOT_SUPPORTED);
    assert_fails(mnn_tensor_device_buffer(first_output(session), &buffer), MNN_ERROR_NOT_SUPPORTED);
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_to_run_on)};
    return cmocka_run_group_tests(tests, open_net, close_net);
}

#else

#include "device_buffers.h"

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

static void until_a_resize(void** state) {
    (void)state;
    mnn_session_t* session = session_of(net);
    mnn_device_buffer_t from = part_of(&in, 0, IMAGE), to = part_of(&out, 0, SCORES);
    assert_ok(bind_in(session, &from));
    assert_ok(bind_out(session, &to));
    assert_ok(resize_batch(session, 2));
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
    mnn_device_buffer_t found = {.struct_size = sizeof found, .kind = MNN_BUFFER_VULKAN};
    assert_fails(mnn_tensor_device_buffer(first_input(session), &found), MNN_ERROR_BAD_STATE);
    assert_fails(bind_in(session, &from), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_non_null(strstr(mnn_last_error(), "512"));
    from.bytes = 2 * IMAGE;
    to.bytes = 2 * SCORES;
    assert_ok(bind_in(session, &from));
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
    assert_ok(bind_out(session, &to));
    const VkCommandPool pool = make_host_pool(&host);
    produce(pool, in.buffer, 0, 70);
    produce(pool, in.buffer, IMAGE, 70);
    assert_ok(mnn_session_run(session));
    free_host_pool(&host, pool);
    copy_now(&host, out.buffer, 0, back.buffer, 0, 2 * SCORES);
    expect_scores(back.mapped, 70);
    expect_scores(back.mapped + SCORES, 70);
    /* The binding is released while a resize is needed; the plan of one image is kept and was recorded with the
       buffers. */
    const int32_t one[] = {1, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, first_input(session), one, 4));
    assert_fails(bind_in(session, &from), MNN_ERROR_BAD_STATE);
    assert_ok(bind_in(session, NULL));
    assert_ok(bind_out(session, NULL));
    assert_ok(mnn_session_resize(session));
    float pixels[PIXELS], got[CLASSES];
    fill_pixels(pixels, PIXELS, 71);
    classify(session, pixels, 1, got);
    expect_scores(got, 71);
    assert_ok(mnn_session_destroy(&session));
}

/* A resize that keeps the size keeps the binding: to a kept plan and back, and with memory of the host in between. */
static void while_the_size_stays(void** state) {
    (void)state;
    mnn_session_t* session = session_of(net);
    const mnn_device_buffer_t from = part_of(&in, 0, IMAGE);
    const int32_t two[] = {2, 1, 8, 8}, one[] = {1, 1, 8, 8};
    float got[CLASSES];
    assert_ok(bind_in(session, &from));
    assert_ok(mnn_session_resize_input(session, first_input(session), two, 4));
    assert_ok(mnn_session_resize_input(session, first_input(session), one, 4));
    assert_ok(mnn_session_trim(session));
    for (uint32_t seed = 80; seed < 83; ++seed) {
        float pixels[PIXELS];
        fill_pixels(pixels, PIXELS, seed);
        if (seed == 81) /* replaces the buffer */
            assert_ok(mnn_session_bind_input(session, first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
        else
            assert_ok(bind_in(session, &from));
        const VkCommandPool pool = make_host_pool(&host);
        if (seed != 81) produce(pool, in.buffer, 0, seed);
        assert_ok(mnn_session_run(session));
        free_host_pool(&host, pool);
        assert_ok(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW));
        expect_scores(got, seed);
    }
    assert_ok(mnn_session_destroy(&session));
}

static void not_for_the_host(void** state) {
    (void)state;
    mnn_session_t* session = session_of(net);
    const mnn_device_buffer_t from = part_of(&in, 0, IMAGE), to = part_of(&out, 0, SCORES);
    float values[PIXELS] = {0};
    void* data = UNTOUCHED_POINTER;
    assert_ok(bind_in(session, &from));
    assert_ok(bind_out(session, &to));
    assert_ok(mnn_session_run(session));
    assert_fails(mnn_tensor_write(first_input(session), values, IMAGE, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_read(first_input(session), values, IMAGE, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_read(first_output(session), values, SCORES, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_map(first_input(session), MNN_MAP_WRITE, &data), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_map(first_output(session), MNN_MAP_READ, &data), MNN_ERROR_BAD_STATE);
    assert_ptr_equal(data, UNTOUCHED_POINTER);
    /* A released output has no values before a run. */
    assert_ok(bind_out(session, NULL));
    assert_fails(mnn_tensor_read(first_output(session), values, SCORES, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
    /* A mapped tensor cannot be bound. */
    assert_ok(bind_in(session, NULL));
    assert_ok(mnn_tensor_map(first_input(session), MNN_MAP_WRITE, &data));
    assert_fails(bind_in(session, &from), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_tensor_unmap(first_input(session)));
    assert_ok(mnn_session_destroy(&session));
}

static void wrong_buffers(void** state) {
    (void)state;
    mnn_session_t* session = session_of(net);
    const mnn_device_buffer_t right = part_of(&in, OFFSET, IMAGE);
    mnn_device_buffer_t part;
    const size_t sizes[] = {0, sizeof part - 1, 4097};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        assert_fails(mnn_device_buffer_init(&part, sizes[i]), MNN_ERROR_VERSION_MISMATCH);
    assert_fails(mnn_device_buffer_init(NULL, sizeof part), MNN_ERROR_NULL_ARGUMENT);
    assert_ok(bind_in(session, &right));
#define REFUSED(change, wanted)                         \
    do {                                                \
        part = right;                                   \
        change;                                         \
        assert_fails(bind_in(session, &part), wanted);  \
        assert_fails(bind_out(session, &part), wanted); \
    } while (0)
    REFUSED(part.struct_size = 0, MNN_ERROR_VERSION_MISMATCH);
    REFUSED(part.kind = 0, MNN_ERROR_INVALID_VALUE);
    REFUSED(part.kind = 3, MNN_ERROR_INVALID_VALUE);
    REFUSED(part.allocate = 2, MNN_ERROR_INVALID_VALUE);
    REFUSED(part.buffer = 0, MNN_ERROR_NULL_ARGUMENT);
    REFUSED(part.bytes = SCORES - 1, MNN_ERROR_BUFFER_TOO_SMALL);
    REFUSED(part.bytes = 0, MNN_ERROR_BUFFER_TOO_SMALL);
    REFUSED(part.offset = OFFSET + 2, MNN_ERROR_INVALID_VALUE);
    REFUSED(part.offset = UINT64_MAX - 511, MNN_ERROR_INVALID_VALUE);
    REFUSED(part.offset = ROOM * 16, MNN_ERROR_INVALID_VALUE);
    REFUSED(part.bytes = UINT64_MAX, MNN_ERROR_INVALID_VALUE);
    REFUSED(part.kind = MNN_BUFFER_OPAQUE_FD, MNN_ERROR_NOT_SUPPORTED); /* made without the extension */
#ifndef _WIN32 /* no device there has the extension */
    assert_non_null(strstr(mnn_last_error(), "VK_KHR_external_memory_fd"));
#endif
#undef REFUSED
    part = right;
    assert_fails(bind_out(session, &part), MNN_ERROR_INVALID_VALUE); /* overlaps the input */
    assert_non_null(strstr(mnn_last_error(), "overlaps"));
    part.offset += IMAGE;
    assert_ok(bind_out(session, &part));
    assert_fails(mnn_session_bind_input_buffer(session, first_input(session), &part), MNN_ERROR_INVALID_VALUE);
    assert_fails(mnn_session_bind_input_buffer(session, first_output(session), &right), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_bind_output_buffer(session, first_input(session), &right), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_bind_input_buffer(session, NULL, &right), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_bind_input_buffer(NULL, first_input(session), &right), MNN_ERROR_NULL_ARGUMENT);
    part = right;
    part.kind = 0;
    assert_fails(mnn_tensor_device_buffer(first_input(session), &part), MNN_ERROR_INVALID_VALUE);
    part.kind = MNN_BUFFER_OPAQUE_FD;
    assert_fails(mnn_tensor_device_buffer(first_input(session), &part), MNN_ERROR_NOT_SUPPORTED);
    part.struct_size = sizeof part - 1;
    assert_fails(mnn_tensor_device_buffer(first_input(session), &part), MNN_ERROR_VERSION_MISMATCH);
    assert_fails(mnn_tensor_device_buffer(first_input(session), NULL), MNN_ERROR_NULL_ARGUMENT);
    /* The right binding is still in effect. */
    const mnn_device_buffer_t found = buffer_of(first_input(session), MNN_BUFFER_VULKAN);
    assert_true(found.buffer == right.buffer && found.offset == OFFSET && found.bytes == IMAGE && found.memory == 0);
    const VkCommandPool pool = make_host_pool(&host);
    produce(pool, in.buffer, OFFSET, 90);
    assert_ok(mnn_session_run(session));
    free_host_pool(&host, pool);
    copy_now(&host, in.buffer, OFFSET + IMAGE, back.buffer, 0, SCORES);
    expect_scores(back.mapped, 90);
    assert_ok(mnn_session_destroy(&session));
}

static void not_on_this_session(void** state) {
    (void)state;
    const mnn_device_buffer_t part = part_of(&in, 0, IMAGE);
    mnn_device_buffer_t found = part;
    mnn_session_t* session = open_session(net);
    assert_fails(bind_in(session, &part), MNN_ERROR_NOT_SUPPORTED);
    assert_fails(bind_out(session, &part), MNN_ERROR_NOT_SUPPORTED);
    assert_fails(mnn_tensor_device_buffer(first_output(session), &found), MNN_ERROR_NOT_SUPPORTED);
    assert_ok(bind_in(session, NULL)); /* nothing to release */
    assert_ok(mnn_session_destroy(&session));
    /* The library has a VkDevice of its own. */
    mnn_schedule_config_t config = default_config();
    config.forward_type = MNN_FORWARD_VULKAN;
    assert_ok(mnn_session_create(net, &config, &session));
    assert_fails(bind_in(session, &part), MNN_ERROR_NOT_SUPPORTED);
    assert_fails(mnn_tensor_device_buffer(first_output(session), &found), MNN_ERROR_NOT_SUPPORTED);
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(until_a_resize), cmocka_unit_test(while_the_size_stays), cmocka_unit_test(not_for_the_host),
        cmocka_unit_test(wrong_buffers),  cmocka_unit_test(not_on_this_session),
    };
    if (!open_device()) return 77;
    return host_vulkan_finish(&host, cmocka_run_group_tests(tests, open_all, close_all));
}

#endif
