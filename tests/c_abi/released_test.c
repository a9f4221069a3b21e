/* After and during mnn_interpreter_release_model(): refused calls, usable sessions, and calls on other threads. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "large_net.h"
#include "submitted.h"

static int64_t weight_bytes(mnn_session_t* session) {
    const mnn_statistics_t memory = statistics_of(session);
    return (int64_t)memory.weight_bytes;
}

/* Sets the input's shape times `factor`, in batch, height and width. */
static void set_factor(mnn_session_t* session, const int32_t* dims, int32_t factor) {
    const int32_t scaled[] = {dims[0] * factor, dims[1], dims[2] * factor, dims[3] * factor};
    assert_ok(mnn_session_resize_input(session, first_input(session), scaled, 4));
}

/* Whether the sentence of the last failure has the name of a convolution of the model in quotes. */
static bool names_operator(const mnn_interpreter_t* model) {
    char sentence[1024], quoted[256];
    size_t count = 0;
    const char *name = NULL, *type = NULL;
    copy_last_error(sentence, sizeof sentence);
    assert_ok(mnn_interpreter_op_count(model, &count));
    for (size_t i = 0; i < count; ++i) {
        assert_ok(mnn_interpreter_op_name(model, i, &name));
        assert_ok(mnn_interpreter_op_type(model, i, &type));
        snprintf(quoted, sizeof quoted, "'%s'", name);
        if (strcmp(type, "Convolution") == 0 && strstr(sentence, quoted)) return true;
    }
    print_error("no operator is named: %s\n", sentence);
    return false;
}

/* A resize succeeds where it needs no weights but those that are prepared; else it leaves the plan of before. */
static void resizes_use_what_is_prepared(void** state) {
    (void)state;
    enum { FACTORS = 10 };
    static struct run wanted;
    mnn_interpreter_t* model = NULL;
    assert_ok(mnn_interpreter_create_from_file(LARGE, NULL, &model));
    mnn_session_t* session = open_session(model);
    work(session, &wanted);
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0;
    assert_ok(mnn_tensor_shape(first_input(session), dims, MNN_MAX_RANK, &rank));
    assert_int_equal(rank, 4);
    bool lacks[FACTORS];
    int lacking = 0;
    const int64_t before = weight_bytes(session);
    for (int32_t i = 0; i < FACTORS; ++i) {
        mnn_session_t* other = open_session(model);
        set_factor(other, dims, i + 1);
        assert_ok(mnn_session_resize(other));
        lacks[i] = weight_bytes(session) > before;
        lacking += lacks[i];
        assert_ok(mnn_session_destroy(&other));
    }
    assert_in_range(lacking, 1, FACTORS - 1);
    assert_ok(mnn_interpreter_release_model(model));
    for (int32_t i = 0; i < FACTORS; ++i) {
        set_factor(session, dims, i + 1);
        if (lacks[i]) {
            assert_fails(mnn_session_resize(session), MNN_ERROR_BAD_STATE);
            assert_fails(mnn_session_run(session), MNN_ERROR_BAD_STATE);
            assert_non_null(strstr(mnn_last_error(), "mnn_interpreter_release_model"));
            assert_true(names_operator(model));
        } else {
            assert_ok(mnn_session_resize(session));
            assert_ok(mnn_session_run(session));
        }
        set_factor(session, dims, 1);
        assert_ok(mnn_session_resize(session));
        assert_same(session, &wanted);
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&model));
}

static void what_needs_the_bytes_is_refused(void** state) {
    (void)state;
    char path[] = "/tmp/mnn_release_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    mnn_interpreter_t* model = open_digits();
    mnn_session_t *session = open_session(model), *none = UNTOUCHED_POINTER;
    const mnn_session_t* given = session;
    char uuid[256];
    const char *text = NULL, *name = NULL;
    size_t size = 77, operators = 0, count = 0;
    uint64_t parameters = 0, same = 0;
    assert_ok(mnn_interpreter_op_count(model, &operators));
    assert_ok(mnn_interpreter_uuid(model, &text));
    snprintf(uuid, sizeof uuid, "%s", text);
    assert_ok(mnn_interpreter_parameter_count(model, &parameters));

    assert_fails(mnn_interpreter_release_model(NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_release_model((mnn_interpreter_t*)session), MNN_ERROR_BAD_HANDLE);
    for (int round = 0; round < 2; ++round) { /* a second call changes nothing */
        assert_ok(mnn_interpreter_release_model(model));
        assert_fails(mnn_session_create(model, NULL, &none), MNN_ERROR_BAD_STATE);
        assert_ptr_equal(none, UNTOUCHED_POINTER);
        assert_non_null(strstr(mnn_last_error(), "mnn_interpreter_release_model"));
        assert_fails(mnn_interpreter_update_constants(model, given), MNN_ERROR_BAD_STATE);
        assert_fails(mnn_interpreter_model_bytes(model, NULL, 0, &size), MNN_ERROR_BAD_STATE);
        assert_int_equal(size, 77);
        assert_fails(mnn_interpreter_save(model, path), MNN_ERROR_BAD_STATE);
        free(read_whole_file(path, &count));
        assert_int_equal(count, 0); /* the file is unchanged */

        /* Information can still be read. */
        assert_ok(mnn_interpreter_op_count(model, &count));
        assert_int_equal(count, operators);
        for (size_t i = 0; i < operators; ++i) {
            bool supported = false;
            assert_ok(mnn_interpreter_op_name(model, i, &name));
            assert_ok(mnn_interpreter_op_supported(model, i, &supported));
            assert_true(supported);
        }
        assert_ok(mnn_interpreter_uuid(model, &text));
        assert_string_equal(text, uuid);
        assert_ok(mnn_interpreter_parameter_count(model, &same));
        assert_int_equal(parameters, same);
        mnn_declaration_t declaration = {.struct_size = sizeof declaration};
        assert_ok(mnn_interpreter_output_info(model, 0, &declaration));
        mnn_model_properties_t info = {.struct_size = sizeof info};
        assert_ok(mnn_interpreter_info(model, &info));
    }
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    reference_scores(5, wanted);
    fill_pixels(pixels, PIXELS, 5);
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_interpreter_destroy(&model));
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&session));
    unlink(path);
}

/* It is called during runs, and inside of one, whose session it does not affect. */
static int32_t release_inside(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors,
                              size_t count) {
    (void)op, (void)tensors, (void)count;
    return mnn_interpreter_release_model(user_data) == MNN_OK ? MNN_OP_RUN : -1;
}

static void beside_runs(void** state) {
    (void)state;
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    reference_scores(6, wanted);
    fill_pixels(pixels, PIXELS, 6);
    mnn_interpreter_t* model = open_digits();
    mnn_session_t *session = open_session(model), *submitted = open_session(model);
    assert_ok(mnn_tensor_write(first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
    assert_ok(mnn_tensor_write(first_input(submitted), pixels, sizeof pixels, MNN_FORMAT_NCHW));
    struct gate gate = CLOSED_GATE;
    assert_ok(submit_gated(submitted, &gate));
    await_gate(&gate);
    assert_ok(run_watched(session, release_inside, NULL, model));
    assert_ok(mnn_tensor_read(first_output(session), got, sizeof got, MNN_FORMAT_NCHW));
    assert_memory_equal(got, wanted, sizeof got);
    open_gate(&gate);
    assert_ok(mnn_session_wait(submitted, -1));
    assert_ok(mnn_tensor_read(first_output(submitted), got, sizeof got, MNN_FORMAT_NCHW));
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&submitted));
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&model));
}

/* Sessions that are created while another thread releases the model are complete or refused. */
struct creations {
    mnn_interpreter_t* model;
    atomic_int made;
    int refused, wrong;
};

static void* create_until_refused(void* data) {
    struct creations* creations = data;
    for (int i = 0; i < 100000 && !creations->refused; ++i) {
        mnn_session_t* session = NULL;
        const mnn_status status = mnn_session_create(creations->model, NULL, &session);
        if (status == MNN_ERROR_BAD_STATE) {
            creations->refused = 1;
        } else if (status != MNN_OK || mnn_session_run(session) != MNN_OK || mnn_session_destroy(&session) != MNN_OK) {
            creations->wrong = 1;
            break;
        }
        atomic_fetch_add(&creations->made, 1);
    }
    return NULL;
}

static void beside_creations(void** state) {
    (void)state;
    for (int round = 0; round < 5; ++round) {
        struct creations creations = {0};
        assert_ok(mnn_interpreter_create_from_file(LARGE, NULL, &creations.model));
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, create_until_refused, &creations), 0);
        while (atomic_load(&creations.made) < 3) usleep(100);
        assert_ok(mnn_interpreter_release_model(creations.model));
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(creations.wrong, 0);
        assert_int_equal(creations.refused, 1);
        assert_ok(mnn_interpreter_destroy(&creations.model));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resizes_use_what_is_prepared),
        cmocka_unit_test(what_needs_the_bytes_is_refused),
        cmocka_unit_test(beside_runs),
        cmocka_unit_test(beside_creations),
    };
    return cmocka_run_group_tests_name("released", tests, NULL, NULL);
}
