/* Bytes of the host: finalizers of borrowed model bytes, and external weights from memory or from a reader. */
#include <pthread.h>

#include "support.h"

#define MODEL_PATH MNN_C_CASES_FOLDER "/weights__external/model.mnn"

enum { MOST = 4096 };

static unsigned char *model, *weights;
static size_t model_size, weights_size;
static float wanted[MOST];
static size_t wanted_count;

static int load_all(void** state) {
    (void)state;
    model = read_whole_file(MODEL_PATH, &model_size);
    weights = read_whole_file(MODEL_PATH ".weight", &weights_size);
    return model && weights ? 0 : -1;
}

static int free_all(void** state) {
    (void)state;
    free(model);
    free(weights);
    return 0;
}

/* What is given, and what happens to it. */
struct given {
    int bytes_freed, weights_freed;
    pthread_t bytes_thread;
    int reads;
    mnn_status answer; /* of the reader */
    int refuse_after;  /* so many reads succeed */
};

static void free_bytes(void* user_data) {
    struct given* given = user_data;
    ++given->bytes_freed;
    given->bytes_thread = pthread_self();
}

static void free_weights(void* user_data) {
    ++((struct given*)user_data)->weights_freed;
}

static mnn_status read_weights(void* user_data, uint64_t offset, void* destination, size_t bytes) {
    struct given* given = user_data;
    if (offset > weights_size || bytes > weights_size - offset || bytes == 0) abort();
    if (given->reads++ >= given->refuse_after) return given->answer;
    memcpy(destination, weights + offset, bytes);
    return MNN_OK;
}

static mnn_interpreter_options_t options_of(void) {
    mnn_interpreter_options_t options;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    return options;
}

static mnn_interpreter_options_t borrowing(struct given* given) {
    mnn_interpreter_options_t options = options_of();
    options.load_mode = MNN_LOAD_BORROW;
    options.bytes_finalizer = free_bytes;
    options.bytes_user_data = given;
    return options;
}

static mnn_interpreter_options_t reading(struct given* given) {
    mnn_interpreter_options_t options = options_of();
    given->refuse_after = INT32_MAX;
    options.external_weight_reader = read_weights;
    options.external_weight_size = weights_size;
    options.external_weight_user_data = given;
    options.external_weight_finalizer = free_weights;
    return options;
}

/* The first output for an input of small numbers. */
static size_t results(mnn_session_t* session, float* values) {
    float x[MOST];
    size_t count = 0;
    assert_ok(mnn_tensor_element_count(first_input(session), &count));
    assert_true(count > 0 && count <= MOST);
    for (size_t i = 0; i < count; ++i) x[i] = (float)(i % 7) * 0.25f - 0.5f;
    assert_ok(mnn_tensor_write(first_input(session), x, count * sizeof *x, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_element_count(first_output(session), &count));
    assert_true(count > 0 && count <= MOST);
    assert_ok(mnn_tensor_read(first_output(session), values, count * sizeof *values, MNN_FORMAT_NCHW));
    return count;
}

static void assert_works(mnn_session_t* session) {
    float got[MOST];
    if (wanted_count == 0) {
        mnn_interpreter_t* net = NULL;
        assert_ok(mnn_interpreter_create_from_file(MODEL_PATH, NULL, &net));
        mnn_session_t* reference = open_session(net);
        wanted_count = results(reference, wanted);
        assert_ok(mnn_session_destroy(&reference));
        assert_ok(mnn_interpreter_destroy(&net));
    }
    assert_int_equal(results(session, got), wanted_count);
    assert_memory_equal(got, wanted, wanted_count * sizeof *got);
}

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

/* Bytes that are copied after all are given back before the call returns. */
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
    assert_fails(mnn_interpreter_create_from_memory(model, model_size, &both, &net),
                 MNN_ERROR_VERSION_MISMATCH);
    assert_int_equal(given.bytes_freed, calls);
    assert_int_equal(given.weights_freed, calls);
    assert_ptr_equal(net, UNTOUCHED_POINTER);
}

static void wrong_combinations(void** state) {
    (void)state;
    mnn_interpreter_t* net = UNTOUCHED_POINTER;
    struct given given = {0};
#define REFUSED(status) \
    assert_fails(mnn_interpreter_create_from_memory(model, model_size, &options, &net), status)
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
    REFUSED(MNN_ERROR_INVALID_VALUE); /* copied: nothing to give back */
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

/* A model from a file may have its weights from the host, too, though a file lies beside it. */
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
        assert_int_equal(given.reads, reads); /* a run reads none */
        assert_ok(mnn_interpreter_destroy(&net));
        assert_int_equal(given.weights_freed, 0);
        assert_ok(mnn_session_destroy(&session));
        assert_int_equal(given.weights_freed, 1);
    }
}

/* Loading and creating end with the status of the reader, at whichever read it fails. */
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
            assert_int_equal(given.reads, i + 1); /* nothing is asked after a failure */
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

/* Ranges are checked against the size that the host gives, before anything is read behind it. */
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
        cmocka_unit_test(bytes_go_with_the_last_session),
        cmocka_unit_test(bytes_go_on_the_thread_that_destroys),
        cmocka_unit_test(unaligned_bytes_go_at_once),
        cmocka_unit_test(failures_give_everything_back),
        cmocka_unit_test(wrong_combinations),
        cmocka_unit_test(weights_from_memory),
        cmocka_unit_test(weights_from_a_reader),
        cmocka_unit_test(readers_that_fail),
        cmocka_unit_test(weights_that_are_too_short),
        cmocka_unit_test(weights_that_are_missing),
    };
    return cmocka_run_group_tests_name("host_bytes", tests, load_all, free_all);
}
