/* mnn_runtime_add_backend(): its misuse, the sessions that have the backend, and their descriptions of it. */
#include "backend.h"

static void misuse(void** state) {
    (void)state;
    struct host host;
    init_host(&host);
    mnn_runtime_t *runtime = runtime_of(1), *none = NULL;
    mnn_backend_t backend;
    int32_t type = UNTOUCHED_INT;
    assert_fails(mnn_backend_init(NULL, sizeof backend), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_backend_init(&backend, sizeof backend - 1), MNN_ERROR_VERSION_MISMATCH);
    assert_fails(mnn_backend_init(&backend, 5000), MNN_ERROR_VERSION_MISMATCH);
    backend = backend_of(&host);
    assert_fails(mnn_runtime_add_backend(NULL, &backend, &type), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_runtime_add_backend(runtime, NULL, &type), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_runtime_add_backend(runtime, &backend, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_runtime_add_backend((mnn_runtime_t*)&backend, &backend, &type), MNN_ERROR_BAD_HANDLE);
    mnn_backend_t wrong = backend;
    wrong.struct_size = 0;
    assert_fails(mnn_runtime_add_backend(runtime, &wrong, &type), MNN_ERROR_VERSION_MISMATCH);
    wrong = backend;
    wrong.name = NULL;
    assert_fails(mnn_runtime_add_backend(runtime, &wrong, &type), MNN_ERROR_NULL_ARGUMENT);
    wrong = backend;
    wrong.supports = NULL;
    assert_fails(mnn_runtime_add_backend(runtime, &wrong, &type), MNN_ERROR_NULL_ARGUMENT);
    wrong = backend;
    wrong.compute = NULL;
    assert_fails(mnn_runtime_add_backend(runtime, &wrong, &type), MNN_ERROR_NULL_ARGUMENT);
    for (size_t i = 0; i < 2; ++i) {
        wrong = backend;
        wrong.name = i ? "cpu" : "";
        assert_fails(mnn_runtime_add_backend(runtime, &wrong, &type), MNN_ERROR_INVALID_VALUE);
    }
    assert_int_equal(type, UNTOUCHED_INT);
    assert_ok(mnn_runtime_add_backend(runtime, &backend, &type));
    const int32_t first = type;
    assert_fails(mnn_runtime_add_backend(runtime, &backend, &type), MNN_ERROR_INVALID_VALUE); /* twice */
    backend.name = "other";
    assert_ok(mnn_runtime_add_backend(runtime, &backend, &type));
    assert_int_not_equal(type, first);
    assert_int_equal(host.finalized, 0);
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_int_equal(host.finalized, 2); /* only those that were added */
    assert_fails(mnn_runtime_add_backend(none, &backend, &type), MNN_ERROR_NULL_ARGUMENT);
}

static void which_sessions_have_it(void** state) {
    (void)state;
    struct host host;
    init_host(&host);
    mnn_runtime_t *runtime = runtime_of(1), *other = runtime_of(1);
    size_t before = 0, after = 0;
    assert_ok(mnn_backend_count(&before));
    const int32_t type = add(runtime, &host);
    assert_ok(mnn_backend_count(&after));
    assert_int_equal(before, after);
    mnn_schedule_config_t config = config_of(NULL, type);
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    config.runtime = other;
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    config = config_of(runtime, INT32_MAX);
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    config = config_of(runtime, MNN_FORWARD_USER - 1);
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    config = config_of(runtime, MNN_FORWARD_CPU);
    config.backup_type = INT32_MAX;
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    config = config_of(runtime, type);
    config.device = "0";
    assert_refused(&config, MNN_ERROR_INVALID_VALUE);
    size_t devices = UNTOUCHED_SIZE;
    assert_fails(mnn_device_count(type, &devices), MNN_ERROR_INVALID_VALUE);
    assert_int_equal(devices, UNTOUCHED_SIZE);
    assert_int_equal(host.asked, 0);

    mnn_session_t* plain = session_on(runtime, MNN_FORWARD_CPU);
    check_scores(plain, 5);
    assert_int_equal(host.asked, 0);
    assert_ok(mnn_session_destroy(&plain));

    mnn_session_t* session = session_on(runtime, type);
    const int32_t forward = session_info_of(session).forward_type;
    const char* reason = session_info_of(session).reason;
    assert_int_equal(forward, type);
    assert_null(reason);
    mnn_session_properties_t info = {.struct_size = sizeof info};
    assert_ok(mnn_session_info(session, &info));
    assert_int_equal(info.forward_type, type);
    assert_int_equal(info.wanted_forward_type, type);
    assert_int_equal(info.gpu_mode, 0);
    assert_null(info.device);
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_ok(mnn_runtime_destroy(&other));
    check_scores(session, 6);
    assert_int_equal(host.computed, 1);
    assert_int_equal(host.finalized, 0);
    assert_ok(mnn_session_destroy(&session));
    assert_int_equal(host.prepared, 1);
    assert_int_equal(host.released, 1);
    assert_int_equal(host.finalized, 1);
}

/* The backend of the host replaces one that is missing. */
static void as_a_backup(void** state) {
    (void)state;
    struct host host;
    init_host(&host);
    mnn_runtime_t* runtime = runtime_of(1);
    mnn_schedule_config_t config = config_of(runtime, MNN_FORWARD_VULKAN);
    config.device = "no such device";
    config.allow_fallback = 1;
    config.backup_type = add(runtime, &host);
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    const int32_t forward = session_info_of(session).forward_type;
    const char* reason = session_info_of(session).reason;
    assert_int_equal(forward, config.backup_type);
    assert_non_null(reason);
    check_scores(session, 7);
    assert_int_equal(host.computed, 1);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_int_equal(host.finalized, 1);
}

static void operators_say_where_they_run(void** state) {
    (void)state;
    struct host host;
    init_host(&host);
    mnn_runtime_t* runtime = runtime_of(1);
    mnn_session_t* session = session_on(runtime, add(runtime, &host));
    size_t operators = 0;
    int own = 0, convolutions = 0;
    assert_ok(mnn_session_op_count(session, &operators));
    for (size_t i = 0; i < operators; ++i) {
        mnn_op_info_t op = {.struct_size = sizeof op};
        assert_ok(mnn_session_op_info(session, i, &op));
        if (strcmp(op.type_name, "Pooling") == 0) {
            ++own;
            assert_string_equal(op.backend_name, "own");
            assert_string_equal(op.name, "m");
            assert_null(op.reason);
            assert_true(op.flops > 0);
        } else {
            assert_string_equal(op.backend_name, "cpu");
        }
        if (strcmp(op.type_name, "Convolution") == 0) {
            ++convolutions;
            assert_string_equal(op.reason, "backend 'own' does not compute it: Convolution is for others");
        }
    }
    assert_int_equal(own, 1);
    assert_int_equal(convolutions, 3);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_runtime_destroy(&runtime));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(misuse), cmocka_unit_test(which_sessions_have_it),
                                       cmocka_unit_test(as_a_backup), cmocka_unit_test(operators_say_where_they_run)};
    return cmocka_run_group_tests_name("backend", tests, open_net, close_net);
}
