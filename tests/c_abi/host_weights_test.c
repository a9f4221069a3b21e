/* External weights from memory of the host, or from a reader. */
#include "host_bytes.h"

static void weights_from_memory(void** state) {
    (void)state;
    const int32_t modes[] = {MNN_LOAD_DEFAULT, MNN_LOAD_COPY, MNN_LOAD_BORROW};
    for (size_t i = 0; i < 3; ++i)
        for (size_t shift = 0; shift < 2; ++shift) {
            struct given given = {0};
            const bool borrowed = modes[i] == MNN_LOAD_BORROW;
            unsigned char* memory = malloc(weights_size + shift);
            assert_non_null(memory);
            memcpy(memory + shift, weights, weights_size);
            mnn_interpreter_options_t options = options_of();
            options.external_weight_data = memory + shift;
            options.external_weight_size = weights_size;
            options.external_weight_mode = modes[i];
            options.external_weight_user_data = &given;
            if (borrowed) options.external_weight_finalizer = free_weights;
            mnn_interpreter_t* net = NULL;
            assert_ok(mnn_interpreter_create_from_memory(model, model_size, &options, &net));
            const bool kept = borrowed && shift == 0;
            assert_int_equal(given.weights_freed, borrowed && !kept);
            if (!kept) {
                memset(memory, 0xff, weights_size + shift);
                free(memory);
            }
            mnn_session_t* session = open_session(net);
            assert_works(session);
            assert_ok(mnn_interpreter_destroy(&net));
            assert_int_equal(given.weights_freed, borrowed && !kept);
            assert_ok(mnn_session_destroy(&session));
            assert_int_equal(given.weights_freed, borrowed);
            if (kept) {
                assert_memory_equal(memory, weights, weights_size); /* never written */
                free(memory);
            }
        }
}

/* A model from a file may also have its weights from the host, though a file lies beside it. */
static void weights_from_a_reader(void** state) {
    (void)state;
    for (int from_file = 0; from_file < 2; ++from_file) {
        struct given given = {0};
        const mnn_interpreter_options_t options = reading(&given);
        mnn_interpreter_t* net = NULL;
        if (from_file)
            assert_ok(mnn_interpreter_create_from_file(MODEL_PATH, &options, &net));
        else
            assert_ok(mnn_interpreter_create_from_memory(model, model_size, &options, &net));
        mnn_session_t* session = open_session(net);
        assert_true(given.reads > 0);
        const int reads = given.reads;
        assert_works(session);
        assert_int_equal(given.reads, reads); /* a run reads no weights */
        assert_ok(mnn_interpreter_destroy(&net));
        assert_int_equal(given.weights_freed, 0);
        assert_ok(mnn_session_destroy(&session));
        assert_int_equal(given.weights_freed, 1);
    }
}

/* Loading and creating end with the status of the reader, whichever read fails. */
static void readers_that_fail(void** state) {
    (void)state;
    struct given counted = {0};
    mnn_interpreter_options_t options = reading(&counted);
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_memory(model, model_size, &options, &net));
    mnn_session_t* session = open_session(net);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
    assert_true(counted.reads > 0);
    const struct {
        mnn_status answer, result;
    } answers[] = {{MNN_ERROR_FILE_READ_FAILED, MNN_ERROR_FILE_READ_FAILED},
                   {MNN_ERROR_CALLBACK_STOP, MNN_ERROR_CALLBACK_STOP},
                   {-5, MNN_ERROR_INVALID_VALUE},
                   {12345, MNN_ERROR_INVALID_VALUE}};
    for (size_t k = 0; k < sizeof answers / sizeof *answers; ++k)
        for (int i = 0; i < counted.reads; ++i) {
            struct given given = {0};
            options = reading(&given);
            given.refuse_after = i;
            given.answer = answers[k].answer;
            net = NULL;
            session = UNTOUCHED_POINTER;
            mnn_status status = mnn_interpreter_create_from_memory(model, model_size, &options, &net);
            if (status == MNN_OK) status = mnn_session_create(net, NULL, &session);
            assert_int_equal(status, answers[k].result);
            assert_non_null(strstr(mnn_last_error(), "external_weight_reader"));
            assert_ptr_equal(session, UNTOUCHED_POINTER);
            assert_int_equal(given.reads, i + 1); /* nothing is read after a failure */
            if (net) {                            /* a reader that recovers serves the next session */
                given.refuse_after = INT32_MAX;
                session = open_session(net);
                assert_works(session);
                assert_ok(mnn_session_destroy(&session));
            }
            assert_ok(mnn_interpreter_destroy(&net));
            assert_int_equal(given.weights_freed, 1);
        }
}

/* Ranges are checked against the size that the host states, before anything is read behind it. */
static void weights_that_are_too_short(void** state) {
    (void)state;
    for (int reader = 0; reader < 2; ++reader) {
        struct given given = {0};
        mnn_interpreter_options_t options = reading(&given);
        if (!reader) {
            options = options_of();
            options.external_weight_data = weights;
        }
        options.external_weight_size = weights_size - 1;
        mnn_interpreter_t* net = NULL;
        mnn_session_t* session = UNTOUCHED_POINTER;
        mnn_status status = mnn_interpreter_create_from_memory(model, model_size, &options, &net);
        if (status == MNN_OK) status = mnn_session_create(net, NULL, &session);
        assert_int_equal(status, MNN_ERROR_TRUNCATED);
        assert_ptr_equal(session, UNTOUCHED_POINTER);
        assert_ok(mnn_interpreter_destroy(&net));
    }
}

/* Without weights from the host a model in memory has none. */
static void weights_that_are_missing(void** state) {
    (void)state;
    mnn_interpreter_t* net = NULL;
    mnn_status status = mnn_interpreter_create_from_memory(model, model_size, NULL, &net);
    mnn_session_t* session = UNTOUCHED_POINTER;
    if (status == MNN_OK) status = mnn_session_create(net, NULL, &session);
    assert_int_equal(status, MNN_ERROR_FILE_NOT_EXIST);
    assert_ok(mnn_interpreter_destroy(&net));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_from_memory),      cmocka_unit_test(weights_from_a_reader),
        cmocka_unit_test(readers_that_fail),        cmocka_unit_test(weights_that_are_too_short),
        cmocka_unit_test(weights_that_are_missing),
    };
    return cmocka_run_group_tests(tests, load_all, free_all);
}
