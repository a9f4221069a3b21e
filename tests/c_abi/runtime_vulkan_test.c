/* A runtime over the host's own Vulkan objects: results, the queue's lock, orders of destruction, objects that do not
 * belong together. Skipped (exit code 77) where there is no device. */
#include "runtime.h"

enum { SKIPPED = 77 };

#ifndef MNN_C_TEST_VULKAN

/* A library without Vulkan reports it. */
static void nothing_to_run_on(void** state) {
    (void)state;
    int object = 0;
    mnn_vulkan_objects_t objects;
    assert_ok(mnn_vulkan_objects_init(&objects, sizeof objects));
    objects.instance = objects.physical_device = objects.device = objects.queue = &object;
    mnn_runtime_config_t config = default_runtime_config();
    config.vulkan = &objects;
    mnn_runtime_t* runtime = NULL;
    assert_fails(mnn_runtime_create(&config, &runtime), MNN_ERROR_BACKEND_MISSING);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_to_run_on)};
    return cmocka_run_group_tests(tests, open_net, close_net);
}

#else

#include "host_vulkan.h"

static struct host_vulkan host;

static mnn_status try_runtime(const mnn_vulkan_objects_t* objects, mnn_runtime_t** runtime) {
    mnn_runtime_config_t config = default_runtime_config();
    config.threads = 2;
    config.vulkan = objects;
    return mnn_runtime_create(&config, runtime);
}

static mnn_session_t* vulkan_session(mnn_runtime_t* runtime, int32_t type, int32_t precision) {
    mnn_schedule_config_t config = default_config();
    config.forward_type = type;
    config.precision = precision;
    config.runtime = runtime;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    type = session_info_of(session).forward_type;
    assert_int_equal(type, MNN_FORWARD_VULKAN);
    assert_ok(resize_batch(session, BATCH));
    return session;
}

static void check_scores(mnn_session_t* session, float tolerance) {
    static float pixels[BATCH * PIXELS], got[BATCH * CLASSES], wanted[BATCH * CLASSES];
    batch_scores(17, wanted);
    fill_pixels(pixels, BATCH * PIXELS, 17);
    classify(session, pixels, BATCH, got);
    assert_close(got, wanted, BATCH * CLASSES, tolerance);
}

static void sessions_run_on_it(void** state) {
    (void)state;
    mnn_runtime_t* runtime = NULL;
    const mnn_vulkan_objects_t objects = host_objects(&host);
    host.locks = host.finalized = 0;
    assert_ok(try_runtime(&objects, &runtime));
    mnn_session_t* sessions[] = {vulkan_session(runtime, MNN_FORWARD_VULKAN, MNN_PRECISION_NORMAL),
                                 vulkan_session(runtime, MNN_FORWARD_AUTO, MNN_PRECISION_LOW)};
    for (int round = 0; round < 3; ++round) {
        const int before = host.locks;
        check_scores(sessions[0], 1e-4f);
        assert_true(host.locks > before);
        host_vulkan_use(&host);
        check_scores(sessions[1], 0.05f);
    }
    assert_int_equal(host.depth, 0);
    assert_int_equal(host.wrong, 0);
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_ok(mnn_session_destroy(&sessions[0]));
    assert_int_equal(host.finalized, 0);
    check_scores(sessions[1], 0.05f);
    assert_ok(mnn_session_destroy(&sessions[1]));
    assert_int_equal(host.finalized, 1);
    host_vulkan_use(&host); /* the host can still use the queue */
    assert_int_equal(host.messages, 0);
}

/* Sessions on the host's device and on the library's own share the weights of one interpreter. */
static void beside_the_librarys_own(void** state) {
    (void)state;
    mnn_vulkan_objects_t objects = host_objects(&host);
    objects.lock_queue = objects.unlock_queue = NULL;
    objects.storage_16bit = 0;
    for (int own_first = 0; own_first < 2; ++own_first) {
        mnn_runtime_t* runtime = NULL;
        mnn_session_t* own = own_first ? vulkan_session(NULL, MNN_FORWARD_VULKAN, MNN_PRECISION_NORMAL) : NULL;
        assert_ok(try_runtime(&objects, &runtime));
        mnn_session_t* session = vulkan_session(runtime, MNN_FORWARD_VULKAN, MNN_PRECISION_NORMAL);
        mnn_session_t* narrow = vulkan_session(runtime, MNN_FORWARD_VULKAN, MNN_PRECISION_LOW);
        if (!own_first) own = vulkan_session(NULL, MNN_FORWARD_VULKAN, MNN_PRECISION_NORMAL);
        check_scores(own, 1e-4f);
        check_scores(session, 1e-4f);
        check_scores(narrow, 1e-4f); /* a device without 16-bit storage computes in fp32 */
        assert_ok(mnn_session_destroy(&session));
        assert_ok(mnn_session_destroy(&narrow));
        assert_ok(mnn_runtime_destroy(&runtime));
        check_scores(own, 1e-4f);
        assert_ok(mnn_session_destroy(&own));
    }
    assert_int_equal(host.messages, 0);
}

static void wrong_objects(void** state) {
    (void)state;
    const mnn_vulkan_objects_t right = host_objects(&host);
    mnn_vulkan_objects_t objects = right;
    const size_t sizes[] = {0, sizeof objects - 1, 4097};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        assert_fails(mnn_vulkan_objects_init(&objects, sizes[i]), MNN_ERROR_VERSION_MISMATCH);
    assert_fails(mnn_vulkan_objects_init(NULL, sizeof objects), MNN_ERROR_NULL_ARGUMENT);
    host.finalized = 0;
#define REFUSED(change, wanted)                                \
    do {                                                       \
        mnn_runtime_t* runtime = UNTOUCHED_POINTER;            \
        objects = right;                                       \
        change;                                                \
        assert_fails(try_runtime(&objects, &runtime), wanted); \
        assert_ptr_equal(runtime, UNTOUCHED_POINTER);          \
    } while (0)
    REFUSED(objects.struct_size = 0, MNN_ERROR_VERSION_MISMATCH);
    REFUSED(objects.instance = NULL, MNN_ERROR_NULL_ARGUMENT);
    REFUSED(objects.physical_device = NULL, MNN_ERROR_NULL_ARGUMENT);
    REFUSED(objects.device = NULL, MNN_ERROR_NULL_ARGUMENT);
    REFUSED(objects.queue = NULL, MNN_ERROR_NULL_ARGUMENT);
    REFUSED(objects.physical_device = (void*)&objects, MNN_ERROR_INVALID_VALUE);
    assert_non_null(strstr(mnn_last_error(), "VkPhysicalDevice"));
    REFUSED(objects.queue_family = host.families, MNN_ERROR_INVALID_VALUE);
    REFUSED(objects.queue_family = UINT32_MAX, MNN_ERROR_INVALID_VALUE);
    REFUSED(objects.storage_16bit = 2, MNN_ERROR_INVALID_VALUE);
    REFUSED(objects.lock_queue = NULL, MNN_ERROR_INVALID_VALUE);
    REFUSED(objects.unlock_queue = NULL, MNN_ERROR_INVALID_VALUE);
    if (!host.storage16) REFUSED(objects.storage_16bit = 1, MNN_ERROR_INVALID_VALUE);
#undef REFUSED
    mnn_runtime_config_t config = default_runtime_config();
    config.vulkan = &right;
    config.device = "0";
    mnn_runtime_t* runtime = NULL;
    assert_fails(mnn_runtime_create(&config, &runtime), MNN_ERROR_INVALID_VALUE);
    config.device = NULL;
    assert_int_equal(host.finalized, 0);
    assert_ok(mnn_runtime_create(&config, &runtime));
    mnn_schedule_config_t named = default_config();
    named.forward_type = MNN_FORWARD_VULKAN;
    named.device = "0";
    named.runtime = runtime;
    assert_refused(&named, MNN_ERROR_INVALID_VALUE);
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_int_equal(host.finalized, 1);
    assert_int_equal(host.messages, 0);
}

static char log_text[4096];

static void keep(void* user_data, int32_t level, const char* message) {
    (void)user_data;
    const size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "%d %s\n", (int)level, message);
}

static void messages(void** state) {
    (void)state;
    const mnn_vulkan_objects_t objects = host_objects(&host);
    for (int own = 0; own < 2; ++own) {
        mnn_runtime_config_t config = default_runtime_config();
        config.vulkan = own ? NULL : &objects;
        config.log_callback = keep;
        config.log_level = MNN_LOG_INFO;
        log_text[0] = '\0';
        mnn_runtime_t* runtime = make_runtime(&config);
        mnn_session_t* session = vulkan_session(runtime, MNN_FORWARD_VULKAN, MNN_PRECISION_NORMAL);
        assert_non_null(strstr(log_text, "3 Vulkan device '"));
        assert_non_null(strstr(log_text, own ? ", of the library\n" : ", of the host\n"));
        assert_ok(mnn_session_destroy(&session));
        assert_ok(mnn_runtime_destroy(&runtime));
    }
}

int main(void) {
    struct host_vulkan probe;
    const bool there = host_vulkan_open(&probe, VK_API_VERSION_1_1);
    host_vulkan_close(&probe);
    if (!there) return SKIPPED;
    if (!host_vulkan_open(&host, VK_API_VERSION_1_1)) return SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_run_on_it),
        cmocka_unit_test(beside_the_librarys_own),
        cmocka_unit_test(wrong_objects),
        cmocka_unit_test(messages),
    };
    const int failed = cmocka_run_group_tests(tests, open_net, close_net);
    return host_vulkan_finish(&host, failed);
}

#endif
