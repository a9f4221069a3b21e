/* mnn_interpreter_*: loading a model and asking about it. */
#include "support.h"

#include <unistd.h>

static unsigned char* model;
static size_t model_size;

static int load_model(void** state) {
    (void)state;
    model = read_whole_file(MNN_C_DIGITS_MODEL, &model_size);
    return model ? 0 : -1;
}

static int free_model(void** state) {
    (void)state;
    free(model);
    return 0;
}

/* Runs a net once and compares with a session of the plainly loaded file. */
static void assert_works(mnn_interpreter_t* net) {
    float pixels[PIXELS], wanted[CLASSES], got[CLASSES];
    reference_scores(3, wanted);
    fill_pixels(pixels, PIXELS, 3);
    mnn_session_t* session = open_session(net);
    classify(session, pixels, 1, got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_ok(mnn_session_destroy(&session));
}

static void options_init(void** state) {
    (void)state;
    struct {
        mnn_interpreter_options_t options;
        unsigned char later[32];
    } mine;
    const mnn_interpreter_options_t zero = {.struct_size = sizeof zero};
    memset(&mine, 0x5a, sizeof mine);
    assert_ok(mnn_interpreter_options_init(&mine.options, sizeof mine.options));
    assert_memory_equal(&mine.options, &zero, sizeof zero);
    for (size_t i = 0; i < sizeof mine.later; ++i) assert_int_equal(mine.later[i], 0x5a);
    /* A later version's struct: all of it is cleared. */
    assert_ok(mnn_interpreter_options_init(&mine.options, sizeof mine));
    assert_int_equal(mine.options.struct_size, sizeof mine);
    for (size_t i = 0; i < sizeof mine.later; ++i) assert_int_equal(mine.later[i], 0);
    memset(&mine, 0x5a, sizeof mine);
    const size_t small[] = {0, 1, sizeof(size_t), sizeof zero - 1};
    for (size_t i = 0; i < sizeof small / sizeof *small; ++i)
        assert_fails(mnn_interpreter_options_init(&mine.options, small[i]), MNN_ERROR_VERSION_MISMATCH);
    for (size_t i = 0; i < sizeof mine; ++i) assert_int_equal(((unsigned char*)&mine)[i], 0x5a);
    assert_fails(mnn_interpreter_options_init(NULL, sizeof zero), MNN_ERROR_NULL_ARGUMENT);
}

static void load_from_file(void** state) {
    (void)state;
    const int32_t modes[] = {MNN_LOAD_DEFAULT, MNN_LOAD_MAPPED, MNN_LOAD_CHUNKED};
    for (size_t i = 0; i < 3; ++i) {
        mnn_interpreter_options_t options;
        assert_ok(mnn_interpreter_options_init(&options, sizeof options));
        options.load_mode = modes[i];
        mnn_interpreter_t* net = NULL;
        assert_ok(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &options, &net));
        assert_works(net);
        assert_ok(mnn_interpreter_destroy(&net));
        assert_null(net);
    }
}

/* MNN_LOAD_CHUNKED: the file may change and go after the call. */
static void chunked_file_may_change(void** state) {
    (void)state;
    char path[] = "mnn_c_chunked_XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, model, model_size), (ssize_t)model_size);
    mnn_interpreter_options_t options;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    options.load_mode = MNN_LOAD_CHUNKED;
    mnn_interpreter_t* net = NULL;
    const mnn_status status = mnn_interpreter_create_from_file(path, &options, &net);
    const int cut = ftruncate(descriptor, 0);
    close(descriptor);
    unlink(path);
    assert_ok(status);
    assert_int_equal(cut, 0);
    assert_works(net);
    assert_ok(mnn_interpreter_destroy(&net));
}

/* A mapped file may be unlinked: the mapping keeps it. */
static void mapped_file_may_be_unlinked(void** state) {
    (void)state;
    char path[] = "mnn_c_mapped_XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, model, model_size), (ssize_t)model_size);
    close(descriptor);
    mnn_interpreter_t* net = NULL;
    const mnn_status status = mnn_interpreter_create_from_file(path, NULL, &net);
    unlink(path);
    assert_ok(status);
    assert_works(net);
    assert_ok(mnn_interpreter_destroy(&net));
}

static void load_from_memory(void** state) {
    (void)state;
    /* One allocation at an odd address too: unaligned bytes are fine in each mode. */
    const int32_t modes[] = {MNN_LOAD_DEFAULT, MNN_LOAD_COPY, MNN_LOAD_BORROW};
    for (size_t i = 0; i < 3; ++i)
        for (size_t shift = 0; shift < 2; ++shift) {
            unsigned char* bytes = malloc(model_size + shift);
            assert_non_null(bytes);
            memcpy(bytes + shift, model, model_size);
            mnn_interpreter_options_t options;
            assert_ok(mnn_interpreter_options_init(&options, sizeof options));
            options.load_mode = modes[i];
            mnn_interpreter_t* net = NULL;
            assert_ok(mnn_interpreter_create_from_memory(bytes + shift, model_size, &options, &net));
            if (modes[i] != MNN_LOAD_BORROW) {
                memset(bytes, 0xff, model_size + shift);
                free(bytes);
            }
            assert_works(net);
            assert_ok(mnn_interpreter_destroy(&net));
            if (modes[i] == MNN_LOAD_BORROW) {
                assert_memory_equal(bytes + shift, model, model_size); /* never written */
                free(bytes);
            }
        }
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_memory(model, model_size, NULL, &net));
    assert_works(net);
    assert_ok(mnn_interpreter_destroy(&net));
}

static void files_that_do_not_load(void** state) {
    (void)state;
    mnn_interpreter_t* net = UNTOUCHED_POINTER;
    assert_fails(mnn_interpreter_create_from_file("no-such-file.mnn", NULL, &net), MNN_ERROR_FILE_NOT_EXIST);
    assert_fails(mnn_interpreter_create_from_file("", NULL, &net), MNN_ERROR_FILE_NOT_EXIST);
    assert_fails(mnn_interpreter_create_from_file(".", NULL, &net), MNN_ERROR_FILE_OPEN_FAILED);
    assert_fails(mnn_interpreter_create_from_file("/dev/null", NULL, &net), MNN_ERROR_FILE_OPEN_FAILED);
    assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL "/x", NULL, &net),
                 MNN_ERROR_FILE_NOT_EXIST);
    assert_fails(mnn_interpreter_create_from_file(NULL, NULL, &net), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, NULL, NULL), MNN_ERROR_NULL_ARGUMENT);
    /* Files that are no models: empty, and text. Both ways of reading give the same status. */
    const int32_t modes[] = {MNN_LOAD_MAPPED, MNN_LOAD_CHUNKED};
    for (size_t i = 0; i < 2; ++i) {
        mnn_interpreter_options_t options;
        assert_ok(mnn_interpreter_options_init(&options, sizeof options));
        options.load_mode = modes[i];
        char path[] = "mnn_c_broken_XXXXXX";
        const int descriptor = mkstemp(path);
        assert_true(descriptor >= 0);
        const mnn_status empty = mnn_interpreter_create_from_file(path, &options, &net);
        const char text[] = "This is a letter and no neural network. This is a letter and no neural network.";
        const ssize_t written = write(descriptor, text, sizeof text);
        const mnn_status letter = mnn_interpreter_create_from_file(path, &options, &net);
        close(descriptor);
        unlink(path);
        assert_fails(empty, MNN_ERROR_TRUNCATED);
        assert_int_equal(written, sizeof text);
        assert_fails(letter, MNN_ERROR_BAD_FORMAT);
    }
    assert_ptr_equal(net, UNTOUCHED_POINTER);
}

static void memory_that_does_not_load(void** state) {
    (void)state;
    mnn_interpreter_t* net = UNTOUCHED_POINTER;
    assert_fails(mnn_interpreter_create_from_memory(NULL, 0, NULL, &net), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_create_from_memory(NULL, model_size, NULL, &net), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_create_from_memory(model, model_size, NULL, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_interpreter_create_from_memory(model, 0, NULL, &net), MNN_ERROR_TRUNCATED);
    const size_t lengths[] = {1, 3, 4, 7, 8, 64, 500, 1000, model_size / 2, model_size - 16};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        unsigned char* part = malloc(lengths[i]);
        assert_non_null(part);
        memcpy(part, model, lengths[i]);
        const mnn_status status = mnn_interpreter_create_from_memory(part, lengths[i], NULL, &net);
        free(part);
        if (status != MNN_ERROR_TRUNCATED && status != MNN_ERROR_BAD_FORMAT)
            fail_msg("the first %zu bytes give %s: %s", lengths[i], mnn_status_name(status),
                     mnn_last_error());
        assert_true(mnn_last_error()[0] != '\0');
    }
    assert_ptr_equal(net, UNTOUCHED_POINTER);
}

static void wrong_options(void** state) {
    (void)state;
    mnn_interpreter_t* net = UNTOUCHED_POINTER;
    mnn_interpreter_options_t options;
    const int32_t not_for_files[] = {MNN_LOAD_COPY, MNN_LOAD_BORROW, 5, -1, INT32_MIN, INT32_MAX};
    const int32_t not_for_memory[] = {MNN_LOAD_MAPPED, MNN_LOAD_CHUNKED, 5, -1, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < 6; ++i) {
        assert_ok(mnn_interpreter_options_init(&options, sizeof options));
        options.load_mode = not_for_files[i];
        assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &options, &net),
                     MNN_ERROR_INVALID_VALUE);
        options.load_mode = not_for_memory[i];
        assert_fails(mnn_interpreter_create_from_memory(model, model_size, &options, &net),
                     MNN_ERROR_INVALID_VALUE);
    }
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    const int32_t levels[] = {-1, 5, INT32_MAX};
    for (size_t i = 0; i < 3; ++i) {
        options.log_level = levels[i];
        assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &options, &net),
                     MNN_ERROR_INVALID_VALUE);
    }
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    const size_t wrong[] = {0, sizeof(size_t), sizeof options - 1, 4097, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        options.struct_size = wrong[i];
        assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &options, &net),
                     MNN_ERROR_VERSION_MISMATCH);
        assert_fails(mnn_interpreter_create_from_memory(model, model_size, &options, &net),
                     MNN_ERROR_VERSION_MISMATCH);
    }
    assert_ptr_equal(net, UNTOUCHED_POINTER);
    /* A struct of a later version: what is known is used, what is not must be zero. */
    struct {
        mnn_interpreter_options_t options;
        unsigned char later[32];
    } longer;
    assert_ok(mnn_interpreter_options_init(&longer.options, sizeof longer));
    net = NULL;
    assert_ok(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &longer.options, &net));
    assert_ok(mnn_interpreter_destroy(&net));
    for (size_t i = 0; i < sizeof longer.later; i += 31) {
        longer.later[i] = 1;
        assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &longer.options, &net),
                     MNN_ERROR_VERSION_MISMATCH);
        longer.later[i] = 0;
    }
    longer.options.load_mode = MNN_LOAD_COPY;
    assert_fails(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &longer.options, &net),
                 MNN_ERROR_INVALID_VALUE);
}

/* The demo model has no external weights: the path is not looked at. tests/unit/made_models_test.cpp has a model that
 * needs them. */
static void unneeded_external_weights(void** state) {
    (void)state;
    mnn_interpreter_options_t options;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    options.external_weight_path = "no-such-file.weight";
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &options, &net));
    assert_works(net);
    assert_ok(mnn_interpreter_destroy(&net));
}

static void destroy(void** state) {
    (void)state;
    assert_ok(mnn_interpreter_destroy(NULL));
    mnn_interpreter_t* none = NULL;
    assert_ok(mnn_interpreter_destroy(&none));
    mnn_interpreter_t* net = open_digits();
    mnn_session_t* session = open_session(net);
    mnn_interpreter_t* wrong = (mnn_interpreter_t*)session;
    assert_fails(mnn_interpreter_destroy(&wrong), MNN_ERROR_BAD_HANDLE);
    assert_ptr_equal(wrong, session);
    mnn_session_t* other = (mnn_session_t*)net;
    assert_fails(mnn_session_destroy(&other), MNN_ERROR_BAD_HANDLE);
    assert_ptr_equal(other, net);
    assert_ok(mnn_interpreter_destroy(&net));
    assert_null(net);
    assert_ok(mnn_interpreter_destroy(&net));
    assert_ok(mnn_session_destroy(&session));
}

static void strings_of_the_model(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    const char *uuid = NULL, *version = NULL, *biz = NULL, *again = NULL;
    assert_ok(mnn_interpreter_uuid(net, &uuid));
    assert_int_equal(strlen(uuid), 36);
    assert_ok(mnn_interpreter_uuid(net, &again));
    assert_ptr_equal(uuid, again);
    assert_ok(mnn_interpreter_model_version(net, &version));
    assert_true(version[0] >= '0' && version[0] <= '9');
    assert_ok(mnn_interpreter_biz_code(net, &biz));
    assert_string_equal(biz, "demo");
    uint64_t parameters = 0;
    assert_ok(mnn_interpreter_parameter_count(net, &parameters));
    /* The layers have (9 + 1) * 16 + (144 + 1) * 32 + (512 + 1) * 10; a few constants of shapes come on top.
     */
    assert_in_range(parameters, 9930, 9930 + 100);
    assert_ok(mnn_interpreter_destroy(&net));
}

static void inputs_and_outputs(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    size_t count = 0, rank = 0;
    int32_t dims[MNN_MAX_RANK], type = -1, format = -1;
    const char* name = NULL;
    assert_ok(mnn_interpreter_input_count(net, &count));
    assert_int_equal(count, 1);
    assert_ok(mnn_interpreter_input_name(net, 0, &name));
    assert_string_equal(name, "image");
    assert_ok(mnn_interpreter_input_shape(net, 0, NULL, 0, &rank));
    assert_int_equal(rank, 4);
    for (size_t capacity = 4; capacity <= MNN_MAX_RANK; ++capacity) {
        for (size_t i = 0; i < MNN_MAX_RANK; ++i) dims[i] = UNTOUCHED_INT;
        rank = 0;
        assert_ok(mnn_interpreter_input_shape(net, 0, dims, capacity, &rank));
        assert_int_equal(rank, 4);
        const int32_t wanted[] = {1, 1, 8, 8, UNTOUCHED_INT, UNTOUCHED_INT};
        assert_memory_equal(dims, wanted, sizeof wanted);
    }
    assert_ok(mnn_interpreter_input_type(net, 0, &type));
    assert_int_equal(type, MNN_TYPE_FLOAT32);
    assert_ok(mnn_interpreter_input_format(net, 0, &format));
    assert_int_equal(format, MNN_FORMAT_NCHW);
    assert_ok(mnn_interpreter_output_count(net, &count));
    assert_int_equal(count, 1);
    assert_ok(mnn_interpreter_output_name(net, 0, &name));
    assert_string_equal(name, "scores");
    assert_ok(mnn_interpreter_destroy(&net));
}

static void operators(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    size_t count = 0, convolutions = 0, poolings = 0;
    assert_ok(mnn_interpreter_op_count(net, &count));
    assert_true(count >= 5);
    for (size_t i = 0; i < count; ++i) {
        const char *name = NULL, *type = NULL;
        bool supported = false;
        assert_ok(mnn_interpreter_op_name(net, i, &name));
        assert_ok(mnn_interpreter_op_type(net, i, &type));
        assert_ok(mnn_interpreter_op_supported(net, i, &supported));
        assert_non_null(name);
        assert_true(type && type[0]);
        assert_true(supported);
        size_t outputs = 0;
        assert_ok(mnn_interpreter_op_output_count(net, i, &outputs));
        assert_int_equal(outputs, 1);
        assert_ok(mnn_interpreter_op_output_name(net, i, 0, &name));
        assert_true(name && name[0]);
        name = UNTOUCHED_POINTER;
        assert_fails(mnn_interpreter_op_output_name(net, i, 1, &name), MNN_ERROR_BAD_INDEX);
        assert_ptr_equal(name, UNTOUCHED_POINTER);
        convolutions += strcmp(type, "Convolution") == 0;
        poolings += strcmp(type, "Pooling") == 0;
    }
    assert_int_equal(convolutions, 3); /* the fully connected layer is one too */
    assert_int_equal(poolings, 1);
    assert_ok(mnn_interpreter_destroy(&net));
}

/* The tensors that operators produce can be saved beside the outputs. */
static void made_tensors_can_be_saved(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    enum { MOST = 32 };
    const char* names[MOST];
    size_t ops = 0, count = 0;
    assert_ok(mnn_interpreter_op_count(net, &ops));
    for (size_t i = 0; i < ops && count < MOST; ++i)
        assert_ok(mnn_interpreter_op_output_name(net, i, 0, &names[count++]));
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.save_tensors = names;
    config.save_tensor_count = count;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    for (size_t i = 0; i < count; ++i) {
        mnn_tensor_t* tensor = NULL;
        assert_ok(mnn_session_output(session, names[i], &tensor));
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
}

static void wrong_indexes_and_small_buffers(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    const size_t wrong[] = {1, 2, (size_t)INT32_MAX + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        const size_t at = wrong[i];
        int32_t dims[MNN_MAX_RANK] = {UNTOUCHED_INT}, number = UNTOUCHED_INT;
        size_t rank = UNTOUCHED_SIZE;
        const char* name = UNTOUCHED_POINTER;
        assert_fails(mnn_interpreter_input_name(net, at, &name), MNN_ERROR_BAD_INDEX);
        assert_fails(mnn_interpreter_input_shape(net, at, dims, MNN_MAX_RANK, &rank), MNN_ERROR_BAD_INDEX);
        assert_fails(mnn_interpreter_input_type(net, at, &number), MNN_ERROR_BAD_INDEX);
        assert_fails(mnn_interpreter_input_format(net, at, &number), MNN_ERROR_BAD_INDEX);
        assert_fails(mnn_interpreter_output_name(net, at, &name), MNN_ERROR_BAD_INDEX);
        assert_ptr_equal(name, UNTOUCHED_POINTER);
        assert_int_equal(rank, UNTOUCHED_SIZE);
        assert_int_equal(dims[0], UNTOUCHED_INT);
        assert_int_equal(number, UNTOUCHED_INT);
    }
    size_t ops = 0;
    assert_ok(mnn_interpreter_op_count(net, &ops));
    const size_t wrong_ops[] = {ops, ops + 1, SIZE_MAX};
    for (size_t i = 0; i < 3; ++i) {
        const char* name = UNTOUCHED_POINTER;
        unsigned char supported = 0x5a;
        assert_fails(mnn_interpreter_op_name(net, wrong_ops[i], &name), MNN_ERROR_BAD_INDEX);
        assert_fails(mnn_interpreter_op_type(net, wrong_ops[i], &name), MNN_ERROR_BAD_INDEX);
        assert_fails(mnn_interpreter_op_supported(net, wrong_ops[i], (bool*)&supported), MNN_ERROR_BAD_INDEX);
        size_t outputs = UNTOUCHED_SIZE;
        assert_fails(mnn_interpreter_op_output_count(net, wrong_ops[i], &outputs), MNN_ERROR_BAD_INDEX);
        assert_fails(mnn_interpreter_op_output_name(net, wrong_ops[i], 0, &name), MNN_ERROR_BAD_INDEX);
        assert_int_equal(outputs, UNTOUCHED_SIZE);
        assert_ptr_equal(name, UNTOUCHED_POINTER);
        assert_int_equal(supported, 0x5a);
    }
    for (size_t capacity = 1; capacity < 4; ++capacity) {
        int32_t dims[4] = {UNTOUCHED_INT, UNTOUCHED_INT, UNTOUCHED_INT, UNTOUCHED_INT};
        size_t rank = UNTOUCHED_SIZE;
        assert_fails(mnn_interpreter_input_shape(net, 0, dims, capacity, &rank), MNN_ERROR_BUFFER_TOO_SMALL);
        assert_int_equal(rank, 4);
        for (size_t i = 0; i < 4; ++i) assert_int_equal(dims[i], UNTOUCHED_INT);
    }
    assert_ok(mnn_interpreter_destroy(&net));
}

static void null_arguments(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    int32_t dims[MNN_MAX_RANK];
    size_t rank = UNTOUCHED_SIZE;
#define NULL_OUT(call) assert_fails(call, MNN_ERROR_NULL_ARGUMENT)
    NULL_OUT(mnn_interpreter_uuid(net, NULL));
    NULL_OUT(mnn_interpreter_model_version(net, NULL));
    NULL_OUT(mnn_interpreter_biz_code(net, NULL));
    NULL_OUT(mnn_interpreter_input_count(net, NULL));
    NULL_OUT(mnn_interpreter_input_name(net, 0, NULL));
    NULL_OUT(mnn_interpreter_input_shape(net, 0, dims, MNN_MAX_RANK, NULL));
    NULL_OUT(mnn_interpreter_input_shape(net, 0, NULL, MNN_MAX_RANK, &rank));
    assert_int_equal(rank, UNTOUCHED_SIZE);
    NULL_OUT(mnn_interpreter_input_type(net, 0, NULL));
    NULL_OUT(mnn_interpreter_input_format(net, 0, NULL));
    NULL_OUT(mnn_interpreter_output_count(net, NULL));
    NULL_OUT(mnn_interpreter_output_name(net, 0, NULL));
    NULL_OUT(mnn_interpreter_op_count(net, NULL));
    NULL_OUT(mnn_interpreter_op_name(net, 0, NULL));
    NULL_OUT(mnn_interpreter_op_type(net, 0, NULL));
    NULL_OUT(mnn_interpreter_op_supported(net, 0, NULL));
    NULL_OUT(mnn_interpreter_op_output_count(net, 0, NULL));
    NULL_OUT(mnn_interpreter_op_output_name(net, 0, 0, NULL));
    NULL_OUT(mnn_interpreter_parameter_count(net, NULL));
#undef NULL_OUT
    assert_ok(mnn_interpreter_destroy(&net));
}

/* Every function gets NULL, a session and a tensor where an interpreter belongs. */
static void wrong_handles(void** state) {
    (void)state;
    mnn_interpreter_t* net = open_digits();
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* tensor = first_input(session);
    const mnn_interpreter_t* wrong[] = {NULL, (mnn_interpreter_t*)session, (mnn_interpreter_t*)tensor};
    for (size_t i = 0; i < 3; ++i) {
        const mnn_interpreter_t* h = wrong[i];
        const mnn_status wanted = h ? MNN_ERROR_BAD_HANDLE : MNN_ERROR_NULL_ARGUMENT;
        const char* text = UNTOUCHED_POINTER;
        size_t count = UNTOUCHED_SIZE;
        int32_t dims[MNN_MAX_RANK] = {UNTOUCHED_INT}, number = UNTOUCHED_INT;
        uint64_t parameters = 0x5a5a;
        unsigned char flag = 0x5a;
        mnn_session_t* made = UNTOUCHED_POINTER;
        assert_fails(mnn_interpreter_uuid(h, &text), wanted);
        assert_fails(mnn_interpreter_model_version(h, &text), wanted);
        assert_fails(mnn_interpreter_biz_code(h, &text), wanted);
        assert_fails(mnn_interpreter_input_count(h, &count), wanted);
        assert_fails(mnn_interpreter_input_name(h, 0, &text), wanted);
        assert_fails(mnn_interpreter_input_shape(h, 0, dims, MNN_MAX_RANK, &count), wanted);
        assert_fails(mnn_interpreter_input_type(h, 0, &number), wanted);
        assert_fails(mnn_interpreter_input_format(h, 0, &number), wanted);
        assert_fails(mnn_interpreter_output_count(h, &count), wanted);
        assert_fails(mnn_interpreter_output_name(h, 0, &text), wanted);
        assert_fails(mnn_interpreter_op_count(h, &count), wanted);
        assert_fails(mnn_interpreter_op_name(h, 0, &text), wanted);
        assert_fails(mnn_interpreter_op_type(h, 0, &text), wanted);
        assert_fails(mnn_interpreter_op_supported(h, 0, (bool*)&flag), wanted);
        assert_fails(mnn_interpreter_op_output_count(h, 0, &count), wanted);
        assert_fails(mnn_interpreter_op_output_name(h, 0, 0, &text), wanted);
        assert_fails(mnn_interpreter_parameter_count(h, &parameters), wanted);
        assert_fails(mnn_session_create((mnn_interpreter_t*)(uintptr_t)h, NULL, &made), wanted);
        assert_ptr_equal(text, UNTOUCHED_POINTER);
        assert_int_equal(count, UNTOUCHED_SIZE);
        assert_int_equal(dims[0], UNTOUCHED_INT);
        assert_int_equal(number, UNTOUCHED_INT);
        assert_int_equal(parameters, 0x5a5a);
        assert_int_equal(flag, 0x5a);
        assert_ptr_equal(made, UNTOUCHED_POINTER);
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
}

struct log_book {
    int finalized, after_the_end, bad;
};

static void on_message(void* user_data, int32_t level, const char* message) {
    struct log_book* book = user_data;
    book->after_the_end += book->finalized;
    book->bad += level < MNN_LOG_ERROR || level > MNN_LOG_DEBUG || !message || strchr(message, '\n') != NULL;
}

static void on_final(void* user_data) {
    ++((struct log_book*)user_data)->finalized;
}

/* The finalizer comes once, behind every message, when the last handle goes. tests/unit/made_models_test.cpp has a model
 * that is warned of, and asks for the message at each level. */
static void finalizer_comes_last(void** state) {
    (void)state;
    for (int keep_session = 0; keep_session < 2; ++keep_session) {
        struct log_book book = {0};
        mnn_interpreter_options_t options;
        assert_ok(mnn_interpreter_options_init(&options, sizeof options));
        options.log_level = MNN_LOG_DEBUG;
        options.log_callback = on_message;
        options.log_user_data = &book;
        options.log_finalizer = on_final;
        mnn_interpreter_t* net = NULL;
        assert_ok(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &options, &net));
        mnn_session_t* session = open_session(net);
        float pixels[PIXELS] = {0}, scores[CLASSES];
        classify(session, pixels, 1, scores);
        assert_int_equal(book.finalized, 0);
        if (keep_session) {
            assert_ok(mnn_interpreter_destroy(&net));
            assert_int_equal(book.finalized, 0);
            classify(session, pixels, 1, scores);
            assert_ok(mnn_session_destroy(&session));
        } else {
            assert_ok(mnn_session_destroy(&session));
            assert_int_equal(book.finalized, 0);
            assert_ok(mnn_interpreter_destroy(&net));
        }
        assert_int_equal(book.finalized, 1);
        assert_int_equal(book.after_the_end, 0);
        assert_int_equal(book.bad, 0);
    }
}

/* A finalizer works without a callback, and is not called when the creation fails. */
static void finalizer_alone(void** state) {
    (void)state;
    struct log_book book = {0};
    mnn_interpreter_options_t options;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    options.log_user_data = &book;
    options.log_finalizer = on_final;
    mnn_interpreter_t* net = NULL;
    assert_fails(mnn_interpreter_create_from_file("no-such-file.mnn", &options, &net),
                 MNN_ERROR_FILE_NOT_EXIST);
    assert_fails(mnn_interpreter_create_from_memory(model, 100, &options, &net), MNN_ERROR_TRUNCATED);
    options.load_mode = 77;
    assert_fails(mnn_interpreter_create_from_memory(model, model_size, &options, &net),
                 MNN_ERROR_INVALID_VALUE);
    options.load_mode = MNN_LOAD_DEFAULT;
    assert_int_equal(book.finalized, 0);
    assert_ok(mnn_interpreter_create_from_memory(model, model_size, &options, &net));
    assert_int_equal(book.finalized, 0);
    assert_ok(mnn_interpreter_destroy(&net));
    assert_int_equal(book.finalized, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_init),
        cmocka_unit_test(load_from_file),
        cmocka_unit_test(chunked_file_may_change),
        cmocka_unit_test(mapped_file_may_be_unlinked),
        cmocka_unit_test(load_from_memory),
        cmocka_unit_test(files_that_do_not_load),
        cmocka_unit_test(memory_that_does_not_load),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(unneeded_external_weights),
        cmocka_unit_test(destroy),
        cmocka_unit_test(strings_of_the_model),
        cmocka_unit_test(inputs_and_outputs),
        cmocka_unit_test(operators),
        cmocka_unit_test(made_tensors_can_be_saved),
        cmocka_unit_test(wrong_indexes_and_small_buffers),
        cmocka_unit_test(null_arguments),
        cmocka_unit_test(wrong_handles),
        cmocka_unit_test(finalizer_comes_last),
        cmocka_unit_test(finalizer_alone),
    };
    return cmocka_run_group_tests_name("interpreter", tests, load_model, free_model);
}
