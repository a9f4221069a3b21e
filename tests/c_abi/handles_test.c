/* Handles: a destroyed handle is refused even when its slot is used again, and so is any other value. */
#include "digits_net.h"

#include <pthread.h>

static void assert_dead_session(mnn_session_t* session) {
    mnn_session_t* copy = session;
    size_t count = UNTOUCHED_SIZE;
    bool flag = false;
    assert_fails(mnn_session_run(session), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_resize(session), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_trim(session), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_input_count(session, &count), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_needs_resize(session, &flag), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_op_count(session, &count), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_session_destroy(&copy), MNN_ERROR_BAD_HANDLE);
    assert_ptr_equal(copy, session);
    assert_int_equal(count, UNTOUCHED_SIZE);
}

static void assert_dead_tensor(mnn_tensor_t* tensor) {
    const char* name = UNTOUCHED_POINTER;
    size_t rank = UNTOUCHED_SIZE;
    float values[PIXELS] = {0};
    void* data = UNTOUCHED_POINTER;
    assert_fails(mnn_tensor_name(tensor, &name), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_tensor_shape(tensor, NULL, 0, &rank), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_tensor_write(tensor, values, sizeof values, MNN_FORMAT_NCHW), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_tensor_read(tensor, values, sizeof values, MNN_FORMAT_NCHW), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_tensor_map(tensor, MNN_MAP_READ, &data), MNN_ERROR_BAD_HANDLE);
    assert_fails(mnn_tensor_unmap(tensor), MNN_ERROR_BAD_HANDLE);
    assert_ptr_equal(name, UNTOUCHED_POINTER);
    assert_ptr_equal(data, UNTOUCHED_POINTER);
    assert_int_equal(rank, UNTOUCHED_SIZE);
}

/* Slots and memory are used again at once; handles are not. */
static void destroyed_handles_stay_dead(void** state) {
    (void)state;
    enum { ROUNDS = 200 };
    mnn_session_t* dead[ROUNDS];
    mnn_tensor_t *inputs[ROUNDS], *outputs[ROUNDS];
    mnn_interpreter_t* nets[ROUNDS];
    for (int i = 0; i < ROUNDS; ++i) {
        mnn_interpreter_t* mine = open_digits();
        mnn_session_t* session = open_session(mine);
        nets[i] = mine;
        dead[i] = session;
        inputs[i] = first_input(session);
        outputs[i] = first_output(session);
        assert_ok(mnn_session_destroy(&session));
        assert_null(session);
        assert_ok(mnn_interpreter_destroy(&mine));
        assert_null(mine);
    }
    mnn_session_t* alive = open_session(net);
    float wanted[CLASSES], got[CLASSES], pixels[PIXELS];
    reference_scores(1, wanted);
    fill_pixels(pixels, PIXELS, 1);
    for (int i = 0; i < ROUNDS; ++i) {
        for (int k = 0; k < i; ++k) assert_ptr_not_equal(dead[i], dead[k]);
        assert_dead_session(dead[i]);
        assert_dead_tensor(inputs[i]);
        assert_dead_tensor(outputs[i]);
        mnn_interpreter_t* copy = nets[i];
        mnn_session_t* none = UNTOUCHED_POINTER;
        assert_fails(mnn_session_create(nets[i], NULL, &none), MNN_ERROR_BAD_HANDLE);
        assert_fails(mnn_interpreter_destroy(&copy), MNN_ERROR_BAD_HANDLE);
        assert_ptr_equal(none, UNTOUCHED_POINTER);
    }
    classify(alive, pixels, 1, got); /* none of that affected the session that now has their slots */
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&alive));
}

static void* use_dead(void* data) {
    mnn_session_t* session = data;
    size_t count = 0;
    return (void*)(intptr_t)(mnn_session_run(session) == MNN_ERROR_BAD_HANDLE &&
                             mnn_session_output_count(session, &count) == MNN_ERROR_BAD_HANDLE &&
                             mnn_last_error()[0] != '\0');
}

static void from_another_thread(void** state) {
    (void)state;
    mnn_session_t *session = open_session(net), *copy = session;
    assert_ok(mnn_session_destroy(&session));
    mnn_session_t* next = open_session(net);
    pthread_t thread;
    void* right = NULL;
    assert_int_equal(pthread_create(&thread, NULL, use_dead, copy), 0);
    assert_int_equal(pthread_join(thread, &right), 0);
    assert_non_null(right);
    assert_ok(mnn_session_destroy(&next));
}

/* Addresses, small numbers, changed bits, handles of other kinds. */
static void values_that_are_no_handles(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_cancel_t* cancel = NULL;
    assert_ok(mnn_cancel_create(&cancel));
    static unsigned char zeros[4096];
    const uintptr_t real = (uintptr_t)session;
    uintptr_t values[140] = {(uintptr_t)zeros, (uintptr_t)&values, 1,        8,        UINTPTR_MAX,
                             (uintptr_t)net,   (uintptr_t)cancel,  real + 1, real + 4, (uintptr_t)first_input(session)};
    size_t count = 10;
    for (int bit = 0; bit < 64; ++bit) values[count++] = real ^ ((uintptr_t)1 << bit);
    for (size_t i = 0; i < count; ++i) {
        size_t inputs = UNTOUCHED_SIZE;
        mnn_session_t* wrong = (mnn_session_t*)values[i];
        assert_fails(mnn_session_input_count(wrong, &inputs), MNN_ERROR_BAD_HANDLE);
        assert_fails(mnn_session_run(wrong), MNN_ERROR_BAD_HANDLE);
        assert_fails(mnn_session_destroy(&wrong), MNN_ERROR_BAD_HANDLE);
        assert_int_equal(inputs, UNTOUCHED_SIZE);
    }
    const char* name = NULL;
    assert_fails(mnn_tensor_name((mnn_tensor_t*)session, &name), MNN_ERROR_BAD_HANDLE);
    assert_non_null(strstr(mnn_last_error(), "a session"));
    assert_fails(mnn_cancel_reset((mnn_cancel_t*)session), MNN_ERROR_BAD_HANDLE);
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_cancel_destroy(&cancel));
    assert_ok(mnn_session_destroy(&session));
}

static int32_t go_on(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    (void)user_data, (void)op, (void)tensors, (void)count;
    return MNN_OP_RUN;
}

/* More handles than there are slots give an error, and all of them can be destroyed. */
static void all_slots_taken(void** state) {
    (void)state;
    enum { SLOTS = 1 << 20 };
    mnn_cancel_t** tokens = calloc(SLOTS + 1, sizeof *tokens);
    assert_non_null(tokens);
    size_t count = 0;
    mnn_status status = MNN_OK;
    mnn_session_t* early = open_session(net);
    while (count <= SLOTS && (status = mnn_cancel_create(&tokens[count])) == MNN_OK) ++count;
    assert_int_equal(status, MNN_ERROR_LIMIT_EXCEEDED);
    assert_true(count > SLOTS - 100);
    mnn_session_t* session = UNTOUCHED_POINTER;
    assert_fails(mnn_session_create(net, NULL, &session), MNN_ERROR_LIMIT_EXCEEDED);
    assert_ptr_equal(session, UNTOUCHED_POINTER);
    mnn_interpreter_t* more = UNTOUCHED_POINTER;
    assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, NULL, &more), MNN_ERROR_LIMIT_EXCEEDED);
    mnn_runtime_t* runtime = UNTOUCHED_POINTER;
    assert_fails(mnn_runtime_create(NULL, &runtime), MNN_ERROR_LIMIT_EXCEEDED);
    assert_ptr_equal(runtime, UNTOUCHED_POINTER);
    assert_fails(run_watched(early, go_on, NULL, NULL), MNN_ERROR_LIMIT_EXCEEDED);
    assert_ok(mnn_session_run(early)); /* shows no tensors */
    assert_ok(mnn_session_destroy(&early));
    /* Three slots are left: enough for a session, but not for both of its tensors. */
    for (int i = 0; i < 3; ++i) assert_ok(mnn_cancel_create(&tokens[count++]));
    assert_ok(mnn_cancel_destroy(&tokens[--count]));
    assert_ok(mnn_cancel_destroy(&tokens[--count]));
    assert_fails(mnn_session_create(net, NULL, &session), MNN_ERROR_LIMIT_EXCEEDED);
    assert_ok(mnn_cancel_destroy(&tokens[--count]));
    assert_ok(mnn_session_create(net, NULL, &session));
    while (count > 0) assert_ok(mnn_cancel_destroy(&tokens[--count]));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_destroy(&session));
    free(tokens);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(destroyed_handles_stay_dead),
        cmocka_unit_test(from_another_thread),
        cmocka_unit_test(values_that_are_no_handles),
        cmocka_unit_test(all_slots_taken),
    };
    return cmocka_run_group_tests_name("handles", tests, open_net, close_net);
}
