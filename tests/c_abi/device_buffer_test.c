/* Inputs and outputs in VkBuffers of the host's VkDevice: results, order on the queue, tensors that the CPU reads or
 * produces. Skipped (exit code 77) where there is no device. */

#ifndef MNN_C_TEST_VULKAN

#include <stdio.h>

int main(void) {
    printf("skipped: the library is built without Vulkan\n");
    return 77;
}

#else

#include "middle_tensor.h"

#include "device_buffers.h"

static mnn_session_t* session_of_file(const char* path, mnn_interpreter_t** model) {
    assert_ok(mnn_interpreter_create_from_file(path, NULL, model));
    return session_of(*model);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* Commands of the host before and after the runs, on one queue, without barriers; 10 scores are no whole quads. */
static void from_and_to_buffers(void** state) {
    (void)state;
    mnn_session_t* session = session_of(net);
    const mnn_device_buffer_t from = part_of(&in, OFFSET, IMAGE), to = part_of(&out, OFFSET, SCORES);
    mark(&out);
    assert_ok(bind_in(session, &from));
    assert_ok(bind_out(session, &to));
    for (uint32_t seed = 1; seed < 4; ++seed) {
        const VkCommandPool pool = make_host_pool(&host);
        produce(pool, in.buffer, OFFSET, seed);
        assert_ok(mnn_session_run(session));
        submit_copy(&host, pool, out.buffer, 0, back.buffer, 0, ROOM, VK_NULL_HANDLE, VK_NULL_HANDLE);
        free_host_pool(&host, pool);
        expect_scores(back.mapped + OFFSET, seed);
        expect_marks(0, OFFSET);
        expect_marks(OFFSET + SCORES, ROOM);
    }
    /* The input was only read. */
    copy_now(&host, in.buffer, OFFSET, back.buffer, 0, IMAGE);
    assert_memory_equal(back.mapped, staging.mapped, IMAGE);
    mnn_tensor_properties_t info = {.struct_size = sizeof info};
    assert_ok(mnn_tensor_info(first_input(session), &info));
    assert_int_equal(info.forward_type, MNN_FORWARD_VULKAN);
    assert_ok(mnn_tensor_info(first_output(session), &info));
    assert_int_equal(info.forward_type, MNN_FORWARD_VULKAN);
    assert_ok(mnn_session_destroy(&session));
}

/* Binding other buffers of the same size takes no plan, and no memory of the device for tensors. */
static void other_buffers_of_the_same_size(void** state) {
    (void)state;
    mnn_session_t* session = session_of(net);
    mnn_statistics_t before = {.struct_size = sizeof before}, after = before;
    assert_ok(mnn_session_statistics(session, &before));
    for (uint32_t i = 0; i < 6; ++i) {
        /* Buffers of an earlier round are destroyed; their handles may be used again. */
        struct host_buffer images = make_host_buffer(&host, ROOM, false);
        struct host_buffer scores = make_host_buffer(&host, ROOM, false);
        const VkDeviceSize shift = i % 2 ? OFFSET : 0;
        const mnn_device_buffer_t from = part_of(&images, shift, ROOM - shift), to = part_of(&scores, shift, SCORES);
        assert_ok(bind_in(session, &from));
        assert_ok(bind_out(session, &to));
        const VkCommandPool pool = make_host_pool(&host);
        produce(pool, images.buffer, shift, 10 + i);
        assert_ok(mnn_session_run(session));
        submit_copy(&host, pool, scores.buffer, shift, back.buffer, 0, SCORES, VK_NULL_HANDLE, VK_NULL_HANDLE);
        free_host_pool(&host, pool);
        expect_scores(back.mapped, 10 + i);
        assert_ok(bind_in(session, NULL));
        assert_ok(bind_out(session, NULL));
        free_host_buffer(&host, &images);
        free_host_buffer(&host, &scores);
    }
    assert_ok(mnn_session_statistics(session, &after));
    assert_int_equal(after.stage_plans, before.stage_plans);
    assert_int_equal(after.device_allocations, before.device_allocations);
    /* The tensors are in the session's memory again. */
    float pixels[PIXELS], got[CLASSES];
    fill_pixels(pixels, PIXELS, 20);
    classify(session, pixels, 1, got);
    expect_scores(got, 20);
    assert_ok(mnn_session_destroy(&session));
}

/* Producer, run and consumer are in flight together; empty batches of the host wait for and signal the semaphores. */
static void submitted(void** state) {
    (void)state;
    HOST_FUNCTION(&host, vkCreateSemaphore);
    HOST_FUNCTION(&host, vkDestroySemaphore);
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore ready = VK_NULL_HANDLE, done = VK_NULL_HANDLE;
    assert_int_equal(vkCreateSemaphore(host.device, &info, NULL, &ready), VK_SUCCESS);
    assert_int_equal(vkCreateSemaphore(host.device, &info, NULL, &done), VK_SUCCESS);
    mnn_session_t* session = session_of(net);
    const mnn_device_buffer_t from = part_of(&in, 0, IMAGE), to = part_of(&out, 0, SCORES);
    assert_ok(bind_in(session, &from));
    assert_ok(bind_out(session, &to));
    for (uint32_t seed = 30; seed < 33; ++seed) {
        const VkCommandPool pool = make_host_pool(&host);
        produce(pool, in.buffer, 0, seed);
        submit_copy(&host, pool, VK_NULL_HANDLE, 0, VK_NULL_HANDLE, 0, 0, VK_NULL_HANDLE, ready);
        submit_copy(&host, pool, VK_NULL_HANDLE, 0, VK_NULL_HANDLE, 0, 0, ready, VK_NULL_HANDLE);
        assert_ok(mnn_session_submit(session, NULL));
        submit_copy(&host, pool, VK_NULL_HANDLE, 0, VK_NULL_HANDLE, 0, 0, VK_NULL_HANDLE, done);
        submit_copy(&host, pool, out.buffer, 0, back.buffer, 0, SCORES, done, VK_NULL_HANDLE);
        assert_ok(mnn_session_wait(session, -1));
        free_host_pool(&host, pool);
        expect_scores(back.mapped, seed);
    }
    assert_ok(mnn_session_destroy(&session));
    vkDestroySemaphore(host.device, ready, NULL);
    vkDestroySemaphore(host.device, done, NULL);
}

/* The session makes the buffers, in its device's memory. */
static void made_by_the_session(void** state) {
    (void)state;
    mnn_session_t* session = session_of(net);
    const mnn_device_buffer_t made = buffer_to_make(MNN_BUFFER_VULKAN);
    assert_ok(bind_in(session, &made));
    assert_ok(bind_out(session, &made));
    const mnn_device_buffer_t from = buffer_of(first_input(session), MNN_BUFFER_VULKAN);
    const mnn_device_buffer_t to = buffer_of(first_output(session), MNN_BUFFER_VULKAN);
    assert_int_equal(from.bytes, IMAGE);
    assert_int_equal(to.bytes, SCORES);
    assert_true(from.memory != 0 && to.memory != 0 && from.memory_bytes >= from.memory_offset + IMAGE);
    const VkCommandPool pool = make_host_pool(&host);
    produce(pool, handle_of(&from), from.offset, 40);
    assert_ok(mnn_session_run(session));
    submit_copy(&host, pool, handle_of(&to), to.offset, back.buffer, 0, SCORES, VK_NULL_HANDLE, VK_NULL_HANDLE);
    free_host_pool(&host, pool);
    expect_scores(back.mapped, 40);
    assert_ok(mnn_session_destroy(&session));
}

/* The place of an output that is not bound, also after resizes and a trim. */
static void the_sessions_own_buffer(void** state) {
    (void)state;
    mnn_session_t* session = session_of(net);
    mnn_device_buffer_t none = {.struct_size = sizeof none, .kind = MNN_BUFFER_VULKAN};
    assert_fails(mnn_tensor_device_buffer(first_input(session), &none), MNN_ERROR_BAD_STATE);
    const int32_t batches[] = {1, 3, 1};
    for (int i = 0; i < 3; ++i) {
        assert_ok(resize_batch(session, batches[i]));
        if (i == 2) assert_ok(mnn_session_trim(session));
        float pixels[3 * PIXELS], got[3 * CLASSES];
        const size_t count = (size_t)batches[i];
        fill_pixels(pixels, count * PIXELS, 50);
        classify(session, pixels, count, got);
        const mnn_device_buffer_t to = buffer_of(first_output(session), MNN_BUFFER_VULKAN);
        assert_int_equal(to.bytes, count * SCORES);
        copy_now(&host, handle_of(&to), to.offset, back.buffer, 0, to.bytes);
        assert_memory_equal(back.mapped, got, count * SCORES);
        expect_scores(got, 50);
    }
    assert_ok(mnn_session_destroy(&session));
}

/* A session reads the result of another one of the same device in place. */
static void from_session_to_session(void** state) {
    (void)state;
    const char* middle = middle_tensor(net);
    assert_non_null(middle);
    mnn_schedule_config_t config = default_config();
    config.forward_type = MNN_FORWARD_VULKAN;
    config.runtime = runtime;
    mnn_schedule_config_t second = config;
    config.outputs = &middle;
    config.output_count = 1;
    second.inputs = &middle;
    second.input_count = 1;
    mnn_session_t *head = NULL, *tail = NULL;
    assert_ok(mnn_session_create(net, &config, &head));
    assert_ok(mnn_session_create(net, &second, &tail));
    const mnn_device_buffer_t link = buffer_of(first_output(head), MNN_BUFFER_VULKAN);
    mnn_tensor_t* cut = NULL;
    assert_ok(mnn_session_input(tail, middle, &cut));
    assert_ok(mnn_session_bind_input_buffer(tail, cut, &link));
    float pixels[PIXELS], got[CLASSES];
    fill_pixels(pixels, PIXELS, 60);
    assert_ok(mnn_tensor_write(first_input(head), pixels, sizeof pixels, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_submit(head, NULL));
    assert_ok(mnn_session_submit(tail, NULL));
    assert_ok(mnn_session_wait(head, -1));
    assert_ok(mnn_session_wait(tail, -1));
    assert_ok(mnn_tensor_read(first_output(tail), got, sizeof got, MNN_FORMAT_NCHW));
    expect_scores(got, 60);
    assert_ok(mnn_session_destroy(&tail));
    assert_ok(mnn_session_destroy(&head));
}

/* ---- Through the host -------------------------------------------------------------------------------------------- */

/* The CPU computes the determinant. */
static void on_the_cpu(void** state) {
    (void)state;
    mnn_interpreter_t* model = NULL;
    mnn_session_t* session = session_of_file(MNN_C_CASES_FOLDER "/onnx__det_2d/model.mnn", &model);
    mnn_device_buffer_t found = {.struct_size = sizeof found, .kind = MNN_BUFFER_VULKAN};
    assert_fails(mnn_tensor_device_buffer(first_output(session), &found), MNN_ERROR_BAD_STATE);
    const mnn_device_buffer_t from = part_of(&in, OFFSET, 16), to = part_of(&out, OFFSET, 4);
    mark(&out);
    assert_ok(bind_in(session, &from));
    assert_ok(bind_out(session, &to));
    for (int i = 1; i < 4; ++i) {
        const float matrix[] = {(float)i, 2, 3, 5};
        memcpy(staging.mapped, matrix, sizeof matrix);
        copy_now(&host, staging.buffer, 0, in.buffer, OFFSET, sizeof matrix);
        assert_ok(mnn_session_submit(session, NULL));
        assert_ok(mnn_session_wait(session, -1));
        copy_now(&host, out.buffer, 0, back.buffer, 0, ROOM);
        float determinant = 0;
        memcpy(&determinant, back.mapped + OFFSET, sizeof determinant);
        assert_true(determinant == 5 * (float)i - 6);
        expect_marks(0, OFFSET);
        expect_marks(OFFSET + 4, ROOM);
    }
    mnn_tensor_properties_t info = {.struct_size = sizeof info};
    assert_ok(mnn_tensor_info(first_input(session), &info));
    assert_int_equal(info.forward_type, MNN_FORWARD_CPU);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&model));
}

/* Positions of elements that are not 0: their number is known only in a run. */
static void a_size_that_depends_on_contents(void** state) {
    (void)state;
    mnn_interpreter_t* model = NULL;
    mnn_session_t* session = session_of_file(MNN_C_CASES_FOLDER "/onnx__nonzero_example/model.mnn", &model);
    const mnn_device_buffer_t from = part_of(&in, 0, 16), to = part_of(&out, 0, 24);
    const mnn_device_buffer_t made = buffer_to_make(MNN_BUFFER_VULKAN);
    mark(&out);
    assert_ok(bind_in(session, &from));
    assert_fails(bind_out(session, &made), MNN_ERROR_BAD_STATE);
    assert_ok(bind_out(session, &to));
    const int32_t flags[][4] = {{1, 0, 1, 1}, {1, 1, 1, 1}, {0, 1, 0, 0}};
    for (int i = 0; i < 3; ++i) {
        memcpy(staging.mapped, flags[i], sizeof flags[i]);
        copy_now(&host, staging.buffer, 0, in.buffer, 0, sizeof flags[i]);
        if (i == 1)
            assert_fails(mnn_session_run(session), MNN_ERROR_BUFFER_TOO_SMALL);
        else
            assert_ok(mnn_session_run(session));
        copy_now(&host, out.buffer, 0, back.buffer, 0, ROOM);
        const int32_t wanted[2][6] = {{0, 1, 1, 0, 0, 1}, {0, 1, 1, 0, 0, 1}};
        if (i < 2) assert_memory_equal(back.mapped, wanted[i], 24);
        int32_t one[2];
        memcpy(one, back.mapped, sizeof one);
        if (i == 2) assert_true(one[0] == 0 && one[1] == 1);
        expect_marks(24, ROOM);
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&model));
}

/* Halves of exact numbers, in and out; and an output of floats beside them. */
static void halves(void** state) {
    (void)state;
    enum { COUNT = 30 };
    static const uint16_t kOne = 0x3c00, kOneAndAHalf = 0x3e00;
    mnn_interpreter_t* model = NULL;
    mnn_session_t* session = session_of_file(MNN_C_NETS_FOLDER "/halves.mnn", &model);
    mnn_tensor_t *x = NULL, *factor = NULL, *cast = NULL;
    assert_ok(mnn_session_input(session, "x", &x));
    assert_ok(mnn_session_input(session, "factor", &factor));
    assert_ok(mnn_session_output(session, "cast", &cast));
    const float value = 1.5f;
    assert_ok(mnn_tensor_write(factor, &value, sizeof value, MNN_FORMAT_NCHW));
    const mnn_device_buffer_t from = part_of(&in, 0, COUNT * 2), to = part_of(&out, 0, COUNT * 2);
    assert_ok(mnn_session_bind_input_buffer(session, x, &from));
    assert_ok(mnn_session_bind_output_buffer(session, cast, &to));
    mark(&out);
    for (int i = 0; i < COUNT; ++i) memcpy(staging.mapped + 2 * i, &kOne, sizeof kOne);
    copy_now(&host, staging.buffer, 0, in.buffer, 0, COUNT * 2);
    assert_ok(mnn_session_run(session));
    copy_now(&host, out.buffer, 0, back.buffer, 0, ROOM);
    for (int i = 0; i < COUNT; ++i) assert_memory_equal(back.mapped + 2 * i, &kOneAndAHalf, 2);
    expect_marks(COUNT * 2, ROOM);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&model));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_and_to_buffers),
        cmocka_unit_test(other_buffers_of_the_same_size),
        cmocka_unit_test(submitted),
        cmocka_unit_test(made_by_the_session),
        cmocka_unit_test(the_sessions_own_buffer),
        cmocka_unit_test(from_session_to_session),
        cmocka_unit_test(on_the_cpu),
        cmocka_unit_test(a_size_that_depends_on_contents),
        cmocka_unit_test(halves),
    };
    if (!open_device()) return 77;
    return host_vulkan_finish(&host, cmocka_run_group_tests(tests, open_all, close_all));
}

#endif
