/* The forms of weights: shared ones, halves and codes, files beside the model. */
#include "checks.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Converts heads_model with these outputs and options and checks their values. */
struct heads {
    size_t file, beside; /* bytes */
    int copies;          /* of the floats of the weights, in the file */
    uint64_t prepared;   /* bytes of prepared weights */
};

static struct heads heads_of(const char* const* outputs, size_t count, int32_t weights, int32_t weights_beside) {
    mnn_onnx_options_t options = defaults();
    options.outputs = outputs;
    options.output_count = count;
    options.weights = weights;
    options.weights_beside = weights_beside;
    struct heads heads = {0};
    mnn_onnx_result_t* result = NULL;
    const void *data = NULL, *beside = NULL;
    mnn_interpreter_options_t loading;
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_tensor_t *in = NULL, *out = NULL;
    mnn_statistics_t statistics = {.struct_size = sizeof statistics};
    const float tolerance = weights == MNN_ONNX_WEIGHTS_INT4 ? 5.0f : weights == MNN_ONNX_WEIGHTS_INT8 ? 0.3f : 1e-4f;
    float matrix[32 * 64], ones[64 * 64], values[32 * 64];
    for (int i = 0; i < 32 * 64; i++) matrix[i] = (float)((i * 37) % 101 - 50) / 64;
    for (int i = 0; i < 64 * 64; i++) ones[i] = 1;
    assert_ok(mnn_onnx_convert_memory(heads_model, sizeof heads_model, &options, &result));
    assert_ok(mnn_onnx_result_data(result, &data, &heads.file));
    assert_ok(mnn_onnx_result_weights(result, &beside, &heads.beside));
    for (size_t at = 0; at + sizeof matrix <= heads.file; at += 4)
        heads.copies += memcmp((const char*)data + at, matrix, sizeof matrix) == 0;

    assert_ok(mnn_interpreter_options_init(&loading, sizeof loading));
    loading.external_weight_data = beside;
    loading.external_weight_size = heads.beside;
    assert_ok(mnn_interpreter_create_from_memory(data, heads.file, &loading, &net));
    assert_ok(mnn_session_create(net, NULL, &session));
    assert_ok(mnn_session_input(session, NULL, &in));
    assert_ok(mnn_tensor_write(in, ones, sizeof ones, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    for (size_t k = 0; k < count; k++) {
        const int pixels = strcmp(outputs[k], "small") == 0 ? 16 : 64, bias = strcmp(outputs[k], "other") == 0 ? 32 : 0;
        assert_ok(mnn_session_output(session, outputs[k], &out));
        assert_ok(mnn_tensor_read(out, values, (size_t)pixels * 32 * sizeof(float), MNN_FORMAT_NCHW));
        for (int channel = 0; channel < 32; channel++) {
            float sum = (float)(channel + bias);
            for (int i = 0; i < 64; i++) sum += matrix[channel * 64 + i];
            for (int i = 0; i < pixels; i++) assert_float_equal(values[channel * pixels + i], sum, tolerance);
        }
    }
    assert_ok(mnn_session_statistics(session, &statistics));
    heads.prepared = statistics.weight_bytes;
    mnn_session_destroy(&session);
    mnn_interpreter_destroy(&net);
    mnn_onnx_result_destroy(&result);
    return heads;
}

static void layers_with_the_same_weights_share_them(void** state) {
    (void)state;
    const char* outputs[] = {"large", "small", "other"};
    const struct {
        int32_t weights, beside;
        size_t bytes; /* of the weights */
    } forms[] = {{MNN_ONNX_WEIGHTS_FLOAT32, 0, 8192}, {MNN_ONNX_WEIGHTS_FLOAT16, 0, 4096},
                 {MNN_ONNX_WEIGHTS_INT8, 0, 2048},    {MNN_ONNX_WEIGHTS_INT4, 0, 1024},
                 {MNN_ONNX_WEIGHTS_FLOAT32, 1, 8192}, {MNN_ONNX_WEIGHTS_FLOAT16, 1, 4096}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct heads one = heads_of(outputs, 1, forms[i].weights, forms[i].beside),
                           two = heads_of(outputs, 2, forms[i].weights, forms[i].beside),
                           three = heads_of(outputs, 3, forms[i].weights, forms[i].beside);
        const size_t bytes = forms[i].bytes, small = one.file + one.beside, both = two.file + two.beside;
        const int copies = forms[i].weights == MNN_ONNX_WEIGHTS_FLOAT32 && !forms[i].beside;
        assert_int_equal(one.copies, copies);
        assert_int_equal(two.copies, copies);
        assert_int_equal(three.copies, copies * 2);
        assert_true(one.beside == 0 || one.beside >= bytes);
        assert_int_equal(one.beside != 0, forms[i].beside);
        assert_int_equal(two.beside, one.beside);
        assert_true(small >= bytes && both < small + bytes / 2 + 512);
        assert_true(three.file + three.beside >= both + bytes);
        assert_true(one.prepared >= bytes);
        assert_int_equal(two.prepared, one.prepared);
        assert_true(three.prepared >= one.prepared + bytes);
    }
}

static void assert_products(mnn_interpreter_t* net, float step) {
    float sums[32];
    products(net, sums);
    for (int n = 0; n < 32; n++) {
        float wanted = 0;
        for (int k = 0; k < 64; k++) wanted += element(k * 32 + n);
        assert_float_equal(sums[n], wanted, 64 * step + 1e-4f);
    }
}

static void weights_have_the_wanted_form(void** state) {
    (void)state;
    /* With int4 a step is 100/64/15: a weight differs by at most half of it. */
    const struct {
        int32_t weights, block;
        size_t most_bytes;
        float step;
    } forms[] = {{MNN_ONNX_WEIGHTS_FLOAT32, 0, 9200, 0},
                 {MNN_ONNX_WEIGHTS_FLOAT16, 0, 5100, 1e-3f},
                 {MNN_ONNX_WEIGHTS_INT8, 0, 3700, 0.5f / 255 * 1.6f},
                 {MNN_ONNX_WEIGHTS_INT8, 16, 4500, 0.5f / 255 * 1.6f},
                 {MNN_ONNX_WEIGHTS_INT4, 0, 2400, 0.5f / 15 * 1.6f},
                 {MNN_ONNX_WEIGHTS_INT4, 32, 2700, 0.5f / 15 * 1.6f}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int32_t beside = 0; beside < 2; beside++) {
            mnn_onnx_options_t options = defaults();
            options.weights = forms[i].weights;
            options.weight_block = forms[i].block;
            options.weights_beside = beside;
            mnn_onnx_result_t* result = NULL;
            assert_ok(mnn_onnx_convert_memory(matrix_model, sizeof matrix_model, &options, &result));
            const void *data = NULL, *weights = NULL;
            size_t size = 0, weight_size = 0;
            assert_ok(mnn_onnx_result_data(result, &data, &size));
            assert_ok(mnn_onnx_result_weights(result, &weights, &weight_size));
            /* Codes of 4 bits are small enough to stay in the model. */
            assert_int_equal(weight_size > 0, beside && forms[i].weights != MNN_ONNX_WEIGHTS_INT4 &&
                                                  forms[i].weights != MNN_ONNX_WEIGHTS_INT8);
            assert_int_equal(weights != NULL, weight_size > 0);
            if (!beside && size > forms[i].most_bytes) fail_msg("form %zu has %zu bytes", i, size);
            if (weight_size) assert_true(size < 2000);
            mnn_interpreter_options_t loading;
            assert_ok(mnn_interpreter_options_init(&loading, sizeof loading));
            loading.external_weight_data = weights;
            loading.external_weight_size = weight_size;
            mnn_interpreter_t* net = NULL;
            assert_ok(mnn_interpreter_create_from_memory(data, size, &loading, &net));
            assert_products(net, forms[i].step);
            mnn_interpreter_destroy(&net);
            mnn_onnx_result_destroy(&result);
        }
}

/* Converts a product of ones with a matrix whose weights become codes, and computes it. */
static mnn_onnx_result_t* coded_products(const void* model, size_t size, float sums[32]) {
    mnn_onnx_options_t options = defaults();
    options.weights = MNN_ONNX_WEIGHTS_INT8;
    mnn_onnx_result_t* result = NULL;
    assert_ok(mnn_onnx_convert_memory(model, size, &options, &result));
    const void* data = NULL;
    assert_ok(mnn_onnx_result_data(result, &data, &size));
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_memory(data, size, NULL, &net));
    products(net, sums);
    mnn_interpreter_destroy(&net);
    return result;
}

static void codes_keep_small_weights_and_leave_infinite_ones(void** state) {
    (void)state;
    float sums[32], others[32];
    mnn_onnx_result_t* result = coded_products(faint_model, sizeof faint_model, sums);
    mnn_onnx_result_destroy(&result);
    result = coded_products(endless_model, sizeof endless_model, others);
    const char* note = NULL;
    assert_ok(mnn_onnx_result_note(result, 0, &note));
    assert_non_null(strstr(note, "1 layers have halves in place of codes"));
    mnn_onnx_result_destroy(&result);
    for (int n = 0; n < 32; n++) {
        float wanted = 0;
        for (int k = 0; k < 64; k++) wanted += element(k * 32 + n);
        assert_float_equal(sums[n] * (1 << 20), wanted, 64 * 0.5f / 255 * 1.6f);
        if (n == 0)
            assert_true(isinf(others[n]));
        else
            assert_float_equal(others[n], wanted, 64 * 1e-3f);
    }
}

static void weights_beside_are_saved_and_found(void** state) {
    (void)state;
    mnn_onnx_options_t options = defaults();
    options.weights_beside = 1;
    mnn_onnx_result_t* result = NULL;
    assert_ok(mnn_onnx_convert_memory(matrix_model, sizeof matrix_model, &options, &result));
    /* Where the net cannot be written, the weights do not get their place either. */
    assert_int_equal(mkdir("onnx_test_beside.mnn.part", 0700), 0);
    assert_fails(mnn_onnx_result_save(result, "onnx_test_beside.mnn"), MNN_ERROR_FILE_WRITE_FAILED,
                 "onnx_test_beside.mnn.part");
    assert_int_equal(rmdir("onnx_test_beside.mnn.part"), 0);
    assert_int_not_equal(access("onnx_test_beside.mnn.weight", F_OK), 0);
    assert_int_not_equal(access("onnx_test_beside.mnn.weight.part", F_OK), 0);
    assert_ok(mnn_onnx_result_save(result, "onnx_test_beside.mnn"));
    mnn_onnx_result_destroy(&result);
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_file("onnx_test_beside.mnn", NULL, &net));
    assert_products(net, 0);
    mnn_interpreter_destroy(&net);
    assert_int_equal(remove("onnx_test_beside.mnn.weight"), 0);
    assert_int_equal(remove("onnx_test_beside.mnn"), 0);
}

/* Caches of hubs have links in place of files. */
static void links_are_followed_where_it_is_asked_for(void** state) {
    (void)state;
    char folder[] = "onnx_test_XXXXXX", model[64], data[64], link[64];
    float matrix[64 * 32];
    for (int i = 0; i < 64 * 32; i++) matrix[i] = element(i);
    assert_non_null(mkdtemp(folder));
    snprintf(model, sizeof model, "%s/net.onnx", folder);
    snprintf(data, sizeof data, "%s.blob", folder);
    snprintf(link, sizeof link, "%s/data", folder);
    FILE* file = fopen(data, "wb");
    assert_int_equal(fwrite(matrix, 1, sizeof matrix, file), sizeof matrix);
    assert_int_equal(fclose(file), 0);
    file = fopen(model, "wb");
    assert_int_equal(fwrite(apart_model, 1, sizeof apart_model, file), sizeof apart_model);
    assert_int_equal(fclose(file), 0);
    char target[80];
    snprintf(target, sizeof target, "../%s", data);
    assert_int_equal(symlink(target, link), 0);
    mnn_onnx_result_t* result = NULL;
    mnn_onnx_options_t options = defaults();
    assert_fails(mnn_onnx_convert_file(model, &options, &result), MNN_ERROR_BAD_FORMAT, "follow_links");
    options.follow_links = 1;
    assert_ok(mnn_onnx_convert_file(model, &options, &result));
    const void* bytes = NULL;
    size_t size = 0;
    assert_ok(mnn_onnx_result_data(result, &bytes, &size));
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_memory(bytes, size, NULL, &net));
    assert_products(net, 0);
    mnn_interpreter_destroy(&net);
    mnn_onnx_result_destroy(&result);
    /* The same model in memory, whose folder is an option. */
    options.data_folder = folder;
    assert_ok(mnn_onnx_convert_memory(apart_model, sizeof apart_model, &options, &result));
    mnn_onnx_result_destroy(&result);
    assert_int_equal(unlink(link) + unlink(model) + unlink(data) + rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_with_the_same_weights_share_them),
        cmocka_unit_test(weights_have_the_wanted_form),
        cmocka_unit_test(codes_keep_small_weights_and_leave_infinite_ones),
        cmocka_unit_test(weights_beside_are_saved_and_found),
        cmocka_unit_test(links_are_followed_where_it_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
