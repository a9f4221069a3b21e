/* Whole nets cut at some of their tensors: with that tensor as an input, in two paths that meet there, and in two paths
 * of operators they give the bits of the uncut net. Models come from the command line, or the demo is used; behind
 * --vulkan the first of two paths runs on a GPU, and the bits are not compared (exit code 77 where there is none). */
#include "open_extents.h"
#include "support.h"

#include <math.h>

enum { MAX_OPERANDS = 64, MAX_NAMES = 4096, CUTS = 6 };

static const char* path;
static int32_t backend = MNN_FORWARD_CPU;
static int unsuited; /* models */
static int cuts;

typedef struct {
    int32_t dims[MNN_MAX_RANK], type, format;
    size_t rank, bytes;
    unsigned char* values;
} value_t;

/* The inputs and the outputs of all sessions of a model, by name. */
static mnn_interpreter_t* net;
static struct {
    const char* name;
    value_t value;
} inputs[MAX_OPERANDS], outputs[MAX_OPERANDS];
static size_t in_count, out_count;

static const char* tensors[MAX_NAMES];
static const char* operators[MAX_NAMES];
static size_t tensor_count, operator_count;

static value_t value_of(mnn_tensor_t* tensor) {
    value_t value = {.values = NULL};
    assert_ok(mnn_tensor_shape(tensor, value.dims, MNN_MAX_RANK, &value.rank));
    value.type = tensor_info_of(tensor).type;
    value.format = tensor_info_of(tensor).format;
    if (value.format == MNN_FORMAT_NC4HW4) value.format = MNN_FORMAT_NCHW;
    assert_ok(mnn_tensor_byte_size(tensor, value.format, &value.bytes));
    value.values = calloc(value.bytes + 1, 1);
    return value;
}

static value_t read_value(mnn_tensor_t* tensor) {
    value_t value = value_of(tensor);
    assert_ok(mnn_tensor_read(tensor, value.values, value.bytes, value.format));
    return value;
}

static void fill(value_t* value) {
    if (value->type == MNN_TYPE_FLOAT32) {
        fill_pixels((float*)value->values, value->bytes / sizeof(float), (uint32_t)value->bytes);
        return;
    }
    const int32_t one = 1;
    const bool wide = value->type == MNN_TYPE_INT32;
    for (size_t i = 0; i < value->bytes / (wide ? 4 : 1); ++i)
        memcpy(value->values + (wide ? 4 * i : i), &one, wide ? 4 : 1);
}

static mnn_schedule_config_t plain(void) {
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    return config;
}

/* Sets the shapes of the whole net, even where a part reads none of them. */
static mnn_status resize_part(mnn_session_t* session) {
    for (size_t i = 0; i < in_count; ++i) {
        mnn_tensor_t* input = NULL;
        assert_ok(mnn_session_input(session, inputs[i].name, &input));
        assert_ok(mnn_session_resize_input(session, input, inputs[i].value.dims, inputs[i].value.rank));
    }
    return mnn_session_resize(session);
}

static void write_inputs(mnn_session_t* session) {
    for (size_t i = 0; i < in_count; ++i) {
        mnn_tensor_t* input = NULL;
        assert_ok(mnn_session_input(session, inputs[i].name, &input));
        assert_ok(mnn_tensor_write(input, inputs[i].value.values, inputs[i].value.bytes, inputs[i].value.format));
    }
}

/* Operators between others in int8 compute over codes; at a cut there are floats. */
static bool has_code_groups(void) {
    return strstr(path, "/decoder_int8/") != NULL;
}

/* Convolutions, recurrent layers, attention, normalisation and activations that a converter wrote with several
 * operators are computed as one where no cut lies between: then sums are added in another order, and activations round
 * in other places. */
static bool bits_agree(void) {
    static const char* const taken_apart[] = {"/mobilenet_v3_small/",
                                              "/convolution3d__",
                                              "/convolution__3d/",
                                              "/convolution__group/",
                                              "/control__gru/",
                                              "/control__lstm",
                                              "/gru_cls/",
                                              "/lstm_cls/",
                                              "/matmul__attention/",
                                              "/transformer_enc/",
                                              "/transformer_enc_w8/",
                                              "/layer_norm__trailing_axes/"};
    if (backend != MNN_FORWARD_CPU || has_code_groups()) return false;
    for (size_t i = 0; i < sizeof taken_apart / sizeof *taken_apart; ++i)
        if (strstr(path, taken_apart[i])) return false;
    return true;
}

static bool nearly(const value_t* a, const value_t* b) {
    if (a->type != MNN_TYPE_FLOAT32) return true; /* an index may be that of a neighbour */
    const float *x = (const float*)a->values, *y = (const float*)b->values;
    const float tolerance = has_code_groups() ? 5e-2f : 1e-3f;
    float largest = 1;
    for (size_t i = 0; i < a->bytes / sizeof(float); ++i) largest = fmaxf(largest, fabsf(x[i]));
    for (size_t i = 0; i < a->bytes / sizeof(float); ++i)
        if (isfinite(x[i]) && fabsf(x[i] - y[i]) > tolerance * largest) return false;
    return true;
}

static void compare(mnn_session_t* session, const char* how, const char* where) {
    for (size_t i = 0; i < out_count; ++i) {
        mnn_tensor_t* output = NULL;
        assert_ok(mnn_session_output(session, outputs[i].name, &output));
        value_t got = read_value(output);
        const value_t* wanted = &outputs[i].value;
        if (got.bytes != wanted->bytes || got.rank != wanted->rank ||
            memcmp(got.dims, wanted->dims, got.rank * sizeof *got.dims) != 0)
            fail_msg("%s: output '%s' has another shape %s '%s'", path, outputs[i].name, how, where);
        const bool same = bits_agree() ? memcmp(got.values, wanted->values, got.bytes) == 0 : nearly(wanted, &got);
        if (!same) fail_msg("%s: output '%s' differs %s '%s'", path, outputs[i].name, how, where);
        free(got.values);
    }
}

/* Runs a path up to a tensor, and another with the rest. */
static void two_paths(const char* at) {
    mnn_schedule_config_t configs[2] = {plain(), plain()};
    mnn_session_t* session = NULL;
    configs[0].outputs = &at;
    configs[0].output_count = 1;
    configs[0].forward_type = backend;
    configs[1].threads = 2;
    const mnn_status made = mnn_session_create_paths(net, configs, 2, &session);
    /* At constants and the last tensors, one of the paths would have no operator. */
    if (made == MNN_ERROR_BAD_FORMAT) return;
    assert_ok(made);
    assert_ok(resize_part(session));
    for (int again = 0; again < 2; ++again) {
        write_inputs(session);
        assert_ok(mnn_session_run(session));
        compare(session, "in paths that meet at", at);
    }
    assert_ok(mnn_session_destroy(&session));
    ++cuts;
}

/* The tensor is an input, with the value that the whole net computes for it. */
static void fed(const char* at) {
    for (size_t i = 0; i < in_count; ++i)
        if (strcmp(inputs[i].name, at) == 0) return; /* two tensors of one name */
    mnn_schedule_config_t config = plain();
    mnn_session_t* session = NULL;
    mnn_tensor_t* tensor = NULL;
    config.save_tensors = &at;
    config.save_tensor_count = 1;
    assert_ok(mnn_session_create(net, &config, &session));
    assert_ok(resize_part(session));
    write_inputs(session);
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_output(session, at, &tensor));
    value_t value = read_value(tensor);
    assert_ok(mnn_session_destroy(&session));

    config = plain();
    config.inputs = &at;
    config.input_count = 1;
    config.defer_planning = 1;
    const mnn_status made = mnn_session_create(net, &config, &session);
    if (made == MNN_ERROR_BAD_FORMAT || made == MNN_ERROR_INVALID_VALUE) {
        free(value.values);
        return;
    }
    assert_ok(made);
    assert_ok(mnn_session_input(session, NULL, &tensor)); /* it is the first */
    const char* name = NULL;
    assert_ok(mnn_tensor_name(tensor, &name));
    assert_string_equal(name, at);
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0;
    assert_ok(mnn_tensor_shape(tensor, dims, MNN_MAX_RANK, &rank));
    mnn_tensor_properties_t info = {.struct_size = sizeof info};
    assert_ok(mnn_tensor_info(tensor, &info));
    const bool known = info.used && (rank != 1 || dims[0] != -1); /* an input that nothing reads has any shape */
    const mnn_status resized = mnn_session_resize_input(session, tensor, value.dims, value.rank);
    /* Sequences keep their shapes. Where even the type is not known, it is float32, which may be wrong. */
    if (resized != MNN_ERROR_NOT_SUPPORTED) {
        assert_ok(resized);
        const int32_t type = tensor_info_of(tensor).type;
        if (known) assert_int_equal(type, value.type);
        const mnn_status planned = resize_part(session);
        if (planned != MNN_OK) assert_true(!known && planned == MNN_ERROR_BAD_TYPE);
        if (planned == MNN_OK && type == value.type) {
            write_inputs(session);
            assert_ok(mnn_tensor_write(tensor, value.values, value.bytes, value.format));
            const mnn_status ran = mnn_session_run(session);
            if (ran != MNN_OK) assert_true(!known && ran == MNN_ERROR_BAD_TYPE);
            if (ran == MNN_OK) compare(session, "fed at", at);
            ++cuts;
        }
    }
    free(value.values);
    assert_ok(mnn_session_destroy(&session));
}

/* Runs all operators before a place, and then those after it. */
static void two_lists(size_t place) {
    mnn_schedule_config_t configs[2] = {plain(), plain()};
    mnn_session_t* session = NULL;
    configs[0].operators = operators;
    configs[0].operator_count = place;
    configs[0].forward_type = backend;
    configs[1].operators = operators + place;
    configs[1].operator_count = operator_count - place;
    mnn_status made = mnn_session_create_paths(net, configs, 2, &session);
    if (made == MNN_ERROR_BAD_FORMAT || made == MNN_ERROR_INVALID_VALUE) return;
    assert_ok(made);
    mnn_tensor_t* tensor = NULL;
    for (size_t i = 0; i < out_count; ++i)
        if (mnn_session_output(session, outputs[i].name, &tensor) != MNN_OK) {
            assert_ok(mnn_session_destroy(&session)); /* an output in the middle, or a constant */
            return;
        }
    assert_ok(resize_part(session));
    write_inputs(session);
    assert_ok(mnn_session_run(session));
    compare(session, "in paths of operators before", operators[place]);
    assert_ok(mnn_session_destroy(&session));
    ++cuts;
}

static void list_names(void) {
    size_t count = 0;
    tensor_count = operator_count = 0;
    assert_ok(mnn_interpreter_op_count(net, &count));
    for (size_t i = 0; i < count; ++i) {
        const char *name = NULL, *type = NULL;
        size_t made = 0;
        assert_ok(mnn_interpreter_op_output_count(net, i, &made));
        assert_ok(mnn_interpreter_op_type(net, i, &type));
        if (made == 0 || tensor_count + made > MAX_NAMES) break; /* those of subgraphs follow */
        if (strcmp(type, "Const") == 0 || strcmp(type, "Input") == 0) continue;
        assert_ok(mnn_interpreter_op_name(net, i, &name));
        if (name[0] == '\0') assert_ok(mnn_interpreter_op_output_name(net, i, 0, &name));
        bool known = false;
        for (size_t k = 0; k < operator_count && !known; ++k) known = strcmp(operators[k], name) == 0;
        if (!known) operators[operator_count++] = name;
        for (size_t k = 0; k < made; ++k)
            assert_ok(mnn_interpreter_op_output_name(net, i, k, &tensors[tensor_count++]));
    }
}

/* Returns false when the inputs are not suitable. */
static bool run_whole(void) {
    mnn_session_t* session = NULL;
    mnn_schedule_config_t config = plain();
    assert_ok(mnn_session_create(net, &config, &session));
    close_extents(session);
    assert_ok(mnn_session_input_count(session, &in_count));
    assert_ok(mnn_session_output_count(session, &out_count));
    assert_true(in_count <= MAX_OPERANDS && out_count <= MAX_OPERANDS);
    for (size_t i = 0; i < in_count; ++i) {
        mnn_tensor_t* tensor = NULL;
        assert_ok(mnn_session_input_at(session, i, &tensor));
        inputs[i].name = input_info_of(net, i).name;
        inputs[i].value = value_of(tensor);
        fill(&inputs[i].value);
    }
    write_inputs(session);
    const mnn_status ran = mnn_session_run(session);
    for (size_t i = 0; i < out_count; ++i) {
        mnn_tensor_t* tensor = NULL;
        assert_ok(mnn_interpreter_output_name(net, i, &outputs[i].name));
        assert_ok(mnn_session_output_at(session, i, &tensor));
        outputs[i].value.values = NULL;
        if (ran == MNN_OK) outputs[i].value = read_value(tensor);
    }
    assert_ok(mnn_session_destroy(&session));
    if (ran == MNN_ERROR_COMPUTE_SIZE || ran == MNN_ERROR_BAD_RANGE || ran == MNN_ERROR_INPUT_DATA) return false;
    assert_ok(ran);
    return true;
}

static void cut_everywhere(void** state) {
    (void)state;
    /* The operators that a converter wrote for a transposed convolution in 3-D compute another result one by one. */
    if (strstr(path, "/convolution3d__onnx_transposed")) return;
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &net));
    list_names();
    if (run_whole()) {
        const size_t step = tensor_count / CUTS + 1;
        for (size_t i = 0; i < tensor_count; i += step) {
            two_paths(tensors[i]);
            if (backend == MNN_FORWARD_CPU) fed(tensors[i]);
        }
        for (size_t i = 1; i < operator_count; i += operator_count / CUTS + 1) two_lists(i);
    } else {
        ++unsuited;
    }
    for (size_t i = 0; i < in_count; ++i) free(inputs[i].value.values);
    for (size_t i = 0; i < out_count; ++i) free(outputs[i].value.values);
    assert_ok(mnn_interpreter_destroy(&net));
}

int main(int argc, char** argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cut_everywhere)};
    path = MNN_C_DIGITS_MODEL;
    if (argc < 2) return cmocka_run_group_tests_name(path, tests, NULL, NULL);
    int failed = 0, first = 1;
    if (strcmp(argv[1], "--vulkan") == 0) {
        first = 2;
        backend = MNN_FORWARD_VULKAN;
        if (!has_device()) return 77;
    }
    for (int i = first; i < argc; ++i) {
        path = argv[i];
        failed += cmocka_run_group_tests_name(path, tests, NULL, NULL);
    }
    printf("%d cuts; %d of %d models do not suit these inputs\n", cuts, unsuited, argc - first);
    return failed != 0 || unsuited * 5 > argc - first || cuts == 0;
}
