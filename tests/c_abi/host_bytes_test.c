/* Bytes of a model that stay the host's: their finalizers, failures, and options that contradict each other. */
#include "host_bytes.h"

static void bytes_go_with_the_last_session(void** state) {
    (void)state;
    struct given given = {0};
    mnn_interpreter_options_t options = borrowing(&given);
    options.external_weight_path = MODEL_PATH ".weight";
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_memory(model, model_size, &options, &net));
    mnn_session_t* first = open_session(net);
    mnn_session_t* second = open_session(net);
    assert_ok(mnn_interpreter_destroy(&net));
    assert_ok(mnn_session_destroy(&first));
    assert_int_equal(given.bytes_freed, 0);
    assert_works(second);
    assert_int_equal(given.bytes_freed, 0);
    assert_ok(mnn_session_destroy(&second));
    assert_int_equal(given.bytes_freed, 1);
    assert_true(pthread_equal(given.bytes_thread, pthread_self()));
}

static void* destroy_there(void* net) {
    return mnn_interpreter_destroy(net) == MNN_OK ? net : NULL;
}

static void bytes_go_on_the_thread_that_destroys(void** state) {
    (void)state;
    struct given given = {0};
    mnn_interpreter_options_t options = borrowing(&given);
    options.external_weight_path = MODEL_PATH ".weight";
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_memory(model, model_size, &options, &net));
    pthread_t thread;
    void* done = NULL;
    assert_int_equal(pthread_create(&thread, NULL, destroy_there, &net), 0);
    assert_int_equal(pthread_join(thread, &done), 0);
    assert_non_null(done);
    assert_int_equal(given.bytes_freed, 1);
    assert_true(pthread_equal(given.bytes_thread, thread));
}

/* Bytes that are copied after all are released before the call returns. */
static void unaligned_bytes_go_at_once(void** state) {
    (void)state;
    struct given given = {0};
    mnn_interpreter_options_t options = borrowing(&given);
    unsigned char* shifted = malloc(model_size + 1);
    assert_non_null(shifted);
    memcpy(shifted + 1, model, model_size);
    options.external_weight_path = MODEL_PATH ".weight";
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_memory(shifted + 1, model_size, &options, &net));
    assert_int_equal(given.bytes_freed, 1);
    memset(shifted, 0xff, model_size + 1);
    free(shifted);
    mnn_session_t* session = open_session(net);
    assert_works(session);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
    assert_int_equal(given.bytes_freed, 1);
}

/* Each failure calls both finalizers once; options that cannot be read call none. */
static void failures_give_everything_back(void** state) {
    (void)state;
    mnn_interpreter_t* net = UNTOUCHED_POINTER;
    struct given given = {0};
    mnn_interpreter_options_t both = borrowing(&given);
    both.external_weight_data = weights;
    both.external_weight_size = weights_size;
    both.external_weight_mode = MNN_LOAD_BORROW;
    both.external_weight_user_data = &given;
    both.external_weight_finalizer = free_weights;
    int calls = 0;
#define GIVES_BACK(call, status)                      \
    do {                                              \
        assert_fails(call, status);                   \
        ++calls;                                      \
        assert_int_equal(given.bytes_freed, calls);   \
        assert_int_equal(given.weights_freed, calls); \
    } while (0)
    GIVES_BACK(mnn_interpreter_create_from_memory(model, 20, &both, &net), MNN_ERROR_TRUNCATED);
    GIVES_BACK(mnn_interpreter_create_from_memory(model, 0, &both, &net), MNN_ERROR_TRUNCATED);
    GIVES_BACK(mnn_interpreter_create_from_memory(NULL, model_size, &both, &net), MNN_ERROR_NULL_ARGUMENT);
    GIVES_BACK(mnn_interpreter_create_from_memory(model, model_size, &both, NULL), MNN_ERROR_NULL_ARGUMENT);
    GIVES_BACK(mnn_interpreter_create_from_file(MODEL_PATH, &both, &net), MNN_ERROR_INVALID_VALUE);
    both.log_level = 77;
    GIVES_BACK(mnn_interpreter_create_from_memory(model, model_size, &both, &net), MNN_ERROR_INVALID_VALUE);
    both.log_level = 0;
    mnn_cancel_t* cancel = NULL;
    assert_ok(mnn_cancel_create(&cancel));
    assert_ok(mnn_cancel_trigger(cancel));
    both.cancel = cancel;
    GIVES_BACK(mnn_interpreter_create_from_memory(model, model_size, &both, &net), MNN_ERROR_CANCELLED);
    assert_ok(mnn_cancel_destroy(&cancel));
    GIVES_BACK(mnn_interpreter_create_from_memory(model, model_size, &both, &net), MNN_ERROR_BAD_HANDLE);
#undef GIVES_BACK
    both.cancel = NULL;
    both.struct_size = sizeof(size_t);
    assert_fails(mnn_interpreter_create_from_memory(model, model_size, &both, &net), MNN_ERROR_VERSION_MISMATCH);
    assert_int_equal(given.bytes_freed, calls);
    assert_int_equal(given.weights_freed, calls);
    assert_ptr_equal(net, UNTOUCHED_POINTER);
}

static void wrong_combinations(void** state) {
    (void)state;
    mnn_interpreter_t* net = UNTOUCHED_POINTER;
    struct given given = {0};
#define REFUSED(status) assert_fails(mnn_interpreter_create_from_memory(model, model_size, &options, &net), status)
    mnn_interpreter_options_t options = borrowing(&given);
    options.load_mode = MNN_LOAD_COPY;
    REFUSED(MNN_ERROR_INVALID_VALUE);
    options.load_mode = MNN_LOAD_DEFAULT;
    REFUSED(MNN_ERROR_INVALID_VALUE);
    options = reading(&given);
    options.external_weight_data = weights;
    REFUSED(MNN_ERROR_INVALID_VALUE);
    options = reading(&given);
    options.external_weight_path = MODEL_PATH ".weight";
    REFUSED(MNN_ERROR_INVALID_VALUE);
    options = reading(&given);
    options.external_weight_mode = MNN_LOAD_BORROW;
    REFUSED(MNN_ERROR_INVALID_VALUE);
    options = reading(&given);
    options.external_weight_size = 0;
    REFUSED(MNN_ERROR_TRUNCATED);
    options.external_weight_size = (uint64_t)1 << 63;
    REFUSED(MNN_ERROR_BAD_RANGE);
    options = options_of();
    options.external_weight_size = 1;
    REFUSED(MNN_ERROR_INVALID_VALUE);
    options = options_of();
    options.external_weight_finalizer = free_weights;
    options.external_weight_user_data = &given;
    REFUSED(MNN_ERROR_INVALID_VALUE);
    options.external_weight_data = weights;
    options.external_weight_size = weights_size;
    REFUSED(MNN_ERROR_INVALID_VALUE); /* copied, so nothing is released */
    const int32_t modes[] = {MNN_LOAD_MAPPED, MNN_LOAD_CHUNKED, 5, -1};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i) {
        options = options_of();
        options.external_weight_data = weights;
        options.external_weight_size = weights_size;
        options.external_weight_mode = modes[i];
        REFUSED(MNN_ERROR_INVALID_VALUE);
    }
#undef REFUSED
    assert_ptr_equal(net, UNTOUCHED_POINTER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_go_with_the_last_session),
        cmocka_unit_test(bytes_go_on_the_thread_that_destroys),
        cmocka_unit_test(unaligned_bytes_go_at_once),
        cmocka_unit_test(failures_give_everything_back),
        cmocka_unit_test(wrong_combinations),
    };
    return cmocka_run_group_tests(tests, load_all, free_all);
}
