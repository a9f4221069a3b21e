/* mnn_tensor_*: descriptions, and copies in all three layouts. */
#include "digits_net.h"

/* Where mnn_c.h says that element (n, c, s) of N x C x S lies. */
static size_t offset_in(int32_t format, size_t batch, size_t channels, size_t plane, size_t n, size_t c,
                        size_t s) {
    switch (format) {
        case MNN_FORMAT_NCHW:
            return (n * channels + c) * plane + s;
        case MNN_FORMAT_NHWC:
            return (n * plane + s) * channels + c;
        default:
            return ((c / 4 * batch + n) * plane + s) * 4 + c % 4;
    }
}

static mnn_session_t* batch_session(int32_t batch) {
    mnn_session_t* session = open_session(net);
    const int32_t dims[] = {batch, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, first_input(session), dims, 4));
    assert_ok(mnn_session_resize(session));
    return session;
}

static void describe(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t *input = first_input(session), *output = first_output(session);
    const char* name = NULL;
    int32_t dims[MNN_MAX_RANK], type = -1, format = -1;
    size_t rank = 0, count = 0, bytes = 0;
    assert_ok(mnn_tensor_name(input, &name));
    assert_string_equal(name, "image");
    assert_ok(mnn_tensor_name(output, &name));
    assert_string_equal(name, "scores");
    assert_ok(mnn_tensor_shape(input, NULL, 0, &rank));
    assert_int_equal(rank, 4);
    assert_ok(mnn_tensor_shape(output, dims, 2, &rank)); /* known before a run */
    assert_int_equal(rank, 2);
    assert_int_equal(dims[0], 1);
    assert_int_equal(dims[1], CLASSES);
    assert_ok(mnn_tensor_type(input, &type));
    assert_int_equal(type, MNN_TYPE_FLOAT32);
    assert_ok(mnn_tensor_type(output, &type));
    assert_int_equal(type, MNN_TYPE_FLOAT32);
    assert_ok(mnn_tensor_format(input, &format));
    assert_int_equal(format, MNN_FORMAT_NCHW);
    assert_ok(mnn_tensor_format(output, &format));
    assert_in_range(format, MNN_FORMAT_NCHW, MNN_FORMAT_NC4HW4);
    assert_ok(mnn_tensor_element_count(input, &count));
    assert_int_equal(count, PIXELS);
    assert_ok(mnn_tensor_element_count(output, &count));
    assert_int_equal(count, CLASSES);
    assert_ok(mnn_tensor_byte_size(input, MNN_FORMAT_NCHW, &bytes));
    assert_int_equal(bytes, PIXELS * 4);
    assert_ok(mnn_tensor_byte_size(input, MNN_FORMAT_NHWC, &bytes));
    assert_int_equal(bytes, PIXELS * 4);
    assert_ok(mnn_tensor_byte_size(input, MNN_FORMAT_NC4HW4, &bytes));
    assert_int_equal(bytes, PIXELS * 4 * 4);
    /* Below rank 3 all formats are the same. */
    for (format = MNN_FORMAT_NCHW; format <= MNN_FORMAT_NC4HW4; ++format) {
        assert_ok(mnn_tensor_byte_size(output, format, &bytes));
        assert_int_equal(bytes, CLASSES * 4);
    }
    assert_ok(mnn_session_destroy(&session));
}

static void rank_two_is_row_major(void** state) {
    (void)state;
    enum { BATCH = 3 };
    mnn_session_t* session = batch_session(BATCH);
    float pixels[BATCH * PIXELS], wanted[BATCH * CLASSES], got[BATCH * CLASSES];
    fill_pixels(pixels, BATCH * PIXELS, 20);
    classify(session, pixels, BATCH, wanted);
    for (int32_t format = MNN_FORMAT_NHWC; format <= MNN_FORMAT_NC4HW4; ++format) {
        memset(got, 0, sizeof got);
        assert_ok(mnn_tensor_read(first_output(session), got, sizeof got, format));
        assert_memory_equal(got, wanted, sizeof got);
    }
    assert_ok(mnn_session_destroy(&session));
}

/* Writes in each layout, reads back in each, with bytes of a buffer at an odd address. */
static void round_trips(void** state) {
    (void)state;
    const size_t batches[] = {1, 2, 3, 5};
    for (size_t b = 0; b < sizeof batches / sizeof *batches; ++b) {
        const size_t batch = batches[b];
        mnn_session_t* session = batch_session((int32_t)batch);
        mnn_tensor_t* input = first_input(session);
        for (int32_t from = MNN_FORMAT_NCHW; from <= MNN_FORMAT_NC4HW4; ++from)
            for (int32_t to = MNN_FORMAT_NCHW; to <= MNN_FORMAT_NC4HW4; ++to) {
                size_t bytes_in = 0, bytes_out = 0;
                assert_ok(mnn_tensor_byte_size(input, from, &bytes_in));
                assert_ok(mnn_tensor_byte_size(input, to, &bytes_out));
                unsigned char *in = malloc(bytes_in + 1), *out = malloc(bytes_out + 9);
                assert_true(in && out);
                memset(in, 0x7f, bytes_in + 1); /* what is not an element is not looked at */
                memset(out, 0x5a, bytes_out + 9);
                for (size_t n = 0; n < batch; ++n)
                    for (size_t s = 0; s < PIXELS; ++s) {
                        const float value = (float)(n * 1000 + s + (size_t)from * 7);
                        memcpy(in + 1 + 4 * offset_in(from, batch, 1, PIXELS, n, 0, s), &value, 4);
                    }
                assert_ok(mnn_tensor_write(input, in + 1, bytes_in, from));
                assert_ok(mnn_tensor_read(input, out + 1, bytes_out + 8, to));
                for (size_t n = 0; n < batch; ++n)
                    for (size_t s = 0; s < PIXELS; ++s)
                        for (size_t c = 0; c < (to == MNN_FORMAT_NC4HW4 ? 4 : 1); ++c) {
                            const float wanted = c ? 0 : (float)(n * 1000 + s + (size_t)from * 7);
                            float got = -1;
                            memcpy(&got, out + 1 + 4 * offset_in(to, batch, 1, PIXELS, n, c, s), 4);
                            if (got != wanted)
                                fail_msg("batch %zu, format %d to %d, (%zu, %zu, %zu): %g instead of %g",
                                         batch, (int)from, (int)to, n, c, s, (double)got, (double)wanted);
                        }
                assert_int_equal(out[0], 0x5a);
                for (size_t i = 0; i < 8; ++i) assert_int_equal(out[1 + bytes_out + i], 0x5a);
                free(in);
                free(out);
            }
        assert_ok(mnn_session_destroy(&session));
    }
}

/* Channels in plenty: tensors from inside the net (16, 32 and 1 channels), read in each layout. */
static void layouts_of_saved_tensors(void** state) {
    (void)state;
    enum { BATCH = 2 };
    static const struct {
        const char* name;
        size_t channels, plane;
    } saved[] = {{"r1", 16, 64}, {"r2", 32, 64}, {"m", 32, 16}, {"image", 1, 64}};
    const char* names[] = {"r1", "r2", "m", "image"};
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.save_tensors = names;
    config.save_tensor_count = 4;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, &config, &session));
    const int32_t dims[] = {BATCH, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, first_input(session), dims, 4));
    assert_ok(mnn_session_resize(session));
    float pixels[BATCH * PIXELS], scores[BATCH * CLASSES];
    fill_pixels(pixels, BATCH * PIXELS, 21);
    classify(session, pixels, BATCH, scores);
    float *plain = malloc(65536), *other = malloc(65536);
    assert_true(plain && other);
    for (size_t i = 0; i < 4; ++i) {
        const size_t channels = saved[i].channels, plane = saved[i].plane;
        mnn_tensor_t* tensor = NULL;
        size_t bytes = 0;
        assert_ok(mnn_session_output(session, saved[i].name, &tensor));
        assert_ok(mnn_tensor_read(tensor, plain, 65536, MNN_FORMAT_NCHW));
        for (int32_t format = MNN_FORMAT_NHWC; format <= MNN_FORMAT_NC4HW4; ++format) {
            const size_t held = format == MNN_FORMAT_NC4HW4 ? (channels + 3) / 4 * 4 : channels;
            assert_ok(mnn_tensor_byte_size(tensor, format, &bytes));
            assert_int_equal(bytes, BATCH * held * plane * 4);
            memset(other, 0x5a, 65536);
            assert_ok(mnn_tensor_read(tensor, other, bytes, format));
            for (size_t n = 0; n < BATCH; ++n)
                for (size_t c = 0; c < held; ++c)
                    for (size_t s = 0; s < plane; ++s) {
                        const float wanted = c < channels ? plain[(n * channels + c) * plane + s] : 0.0f;
                        if (other[offset_in(format, BATCH, channels, plane, n, c, s)] != wanted)
                            fail_msg("%s in format %d differs at (%zu, %zu, %zu)", saved[i].name, (int)format,
                                     n, c, s);
                    }
            assert_int_equal(((unsigned char*)other)[bytes], 0x5a);
        }
    }
    free(plain);
    free(other);
    assert_ok(mnn_session_destroy(&session));
}

static void write_misuse(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t *input = first_input(session), *output = first_output(session);
    float pixels[PIXELS * 4 + 4], other[PIXELS * 4 + 4] = {0}, got[PIXELS];
    fill_pixels(pixels, PIXELS, 22);
    assert_ok(mnn_tensor_write(input, pixels, PIXELS * 4, MNN_FORMAT_NCHW));
    const size_t wrong[] = {0,           1,        PIXELS * 4 - 1, PIXELS * 4 + 1, PIXELS * 4 - 4,
                            PIXELS * 16, SIZE_MAX, 1u << 31};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        for (int32_t format = MNN_FORMAT_NCHW; format <= MNN_FORMAT_NHWC; ++format)
            assert_fails(mnn_tensor_write(input, other, wrong[i], format), MNN_ERROR_INPUT_DATA);
    assert_fails(mnn_tensor_write(input, other, PIXELS * 4, MNN_FORMAT_NC4HW4), MNN_ERROR_INPUT_DATA);
    assert_non_null(strstr(mnn_last_error(), "image"));
    assert_fails(mnn_tensor_write(input, NULL, PIXELS * 4, MNN_FORMAT_NCHW), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_write(input, NULL, 0, MNN_FORMAT_NCHW), MNN_ERROR_INPUT_DATA);
    assert_fails(mnn_tensor_write(output, other, CLASSES * 4, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
    const int32_t formats[] = {-1, 3, 4, INT32_MIN, INT32_MAX};
    size_t bytes = UNTOUCHED_SIZE;
    for (size_t i = 0; i < 5; ++i) {
        assert_fails(mnn_tensor_write(input, other, PIXELS * 4, formats[i]), MNN_ERROR_INVALID_VALUE);
        assert_fails(mnn_tensor_byte_size(input, formats[i], &bytes), MNN_ERROR_INVALID_VALUE);
    }
    assert_int_equal(bytes, UNTOUCHED_SIZE);
    assert_ok(mnn_tensor_read(input, got, sizeof got, MNN_FORMAT_NCHW));
    assert_memory_equal(got, pixels, sizeof got);
    assert_ok(mnn_session_destroy(&session));
}

static void read_misuse(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t *input = first_input(session), *output = first_output(session);
    unsigned char buffer[PIXELS * 4 * 4];
    memset(buffer, 0x5a, sizeof buffer);
    assert_fails(mnn_tensor_read(output, buffer, sizeof buffer, MNN_FORMAT_NCHW), MNN_ERROR_BAD_STATE);
    float pixels[PIXELS], scores[CLASSES];
    fill_pixels(pixels, PIXELS, 23);
    classify(session, pixels, 1, scores);
    const size_t small[] = {0, 1, CLASSES * 4 - 1};
    for (size_t i = 0; i < 3; ++i)
        for (int32_t format = MNN_FORMAT_NCHW; format <= MNN_FORMAT_NC4HW4; ++format)
            assert_fails(mnn_tensor_read(output, buffer, small[i], format), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_fails(mnn_tensor_read(input, buffer, PIXELS * 4 * 4 - 1, MNN_FORMAT_NC4HW4),
                 MNN_ERROR_BUFFER_TOO_SMALL);
    assert_fails(mnn_tensor_read(output, NULL, 0, MNN_FORMAT_NCHW), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_fails(mnn_tensor_read(output, NULL, CLASSES * 4, MNN_FORMAT_NCHW), MNN_ERROR_NULL_ARGUMENT);
    const int32_t formats[] = {-1, 3, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < 4; ++i)
        assert_fails(mnn_tensor_read(output, buffer, sizeof buffer, formats[i]), MNN_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < sizeof buffer; ++i) assert_int_equal(buffer[i], 0x5a);
    for (size_t capacity = 1; capacity < 4; ++capacity) {
        int32_t dims[4] = {UNTOUCHED_INT, UNTOUCHED_INT, UNTOUCHED_INT, UNTOUCHED_INT};
        size_t rank = UNTOUCHED_SIZE;
        assert_fails(mnn_tensor_shape(input, dims, capacity, &rank), MNN_ERROR_BUFFER_TOO_SMALL);
        assert_int_equal(rank, 4);
        for (size_t i = 0; i < 4; ++i) assert_int_equal(dims[i], UNTOUCHED_INT);
    }
    assert_ok(mnn_session_destroy(&session));
}

static void null_arguments(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* input = first_input(session);
    int32_t dims[MNN_MAX_RANK];
    size_t rank = UNTOUCHED_SIZE;
    assert_fails(mnn_tensor_name(input, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_shape(input, dims, MNN_MAX_RANK, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_shape(input, NULL, MNN_MAX_RANK, &rank), MNN_ERROR_NULL_ARGUMENT);
    assert_int_equal(rank, UNTOUCHED_SIZE);
    assert_fails(mnn_tensor_type(input, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_format(input, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_element_count(input, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_byte_size(input, MNN_FORMAT_NCHW, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_ok(mnn_session_destroy(&session));
}

/* Every function gets NULL, an interpreter and a session where a tensor belongs. */
static void wrong_handles(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* wrong[] = {NULL, (mnn_tensor_t*)net, (mnn_tensor_t*)session};
    for (size_t i = 0; i < 3; ++i) {
        mnn_tensor_t* h = wrong[i];
        const mnn_status wanted = h ? MNN_ERROR_BAD_HANDLE : MNN_ERROR_NULL_ARGUMENT;
        const char* name = UNTOUCHED_POINTER;
        int32_t dims[MNN_MAX_RANK] = {UNTOUCHED_INT}, number = UNTOUCHED_INT;
        size_t size = UNTOUCHED_SIZE;
        float values[PIXELS] = {-5};
        assert_fails(mnn_tensor_name(h, &name), wanted);
        assert_fails(mnn_tensor_shape(h, dims, MNN_MAX_RANK, &size), wanted);
        assert_fails(mnn_tensor_type(h, &number), wanted);
        assert_fails(mnn_tensor_format(h, &number), wanted);
        assert_fails(mnn_tensor_element_count(h, &size), wanted);
        assert_fails(mnn_tensor_byte_size(h, MNN_FORMAT_NCHW, &size), wanted);
        assert_fails(mnn_tensor_write(h, values, sizeof values, MNN_FORMAT_NCHW), wanted);
        assert_fails(mnn_tensor_read(h, values, sizeof values, MNN_FORMAT_NCHW), wanted);
        assert_ptr_equal(name, UNTOUCHED_POINTER);
        assert_int_equal(dims[0], UNTOUCHED_INT);
        assert_int_equal(number, UNTOUCHED_INT);
        assert_int_equal(size, UNTOUCHED_SIZE);
        assert_true(values[0] == -5);
    }
    assert_ok(mnn_session_destroy(&session));
}

/* A batch of none: no bytes go either way, and NULL is fine for them. */
static void empty_batch(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    mnn_tensor_t* input = first_input(session);
    const int32_t none[] = {0, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, input, none, 4));
    assert_ok(mnn_session_resize(session));
    size_t size = UNTOUCHED_SIZE;
    assert_ok(mnn_tensor_byte_size(input, MNN_FORMAT_NC4HW4, &size));
    assert_int_equal(size, 0);
    assert_ok(mnn_tensor_write(input, NULL, 0, MNN_FORMAT_NCHW));
    assert_ok(mnn_tensor_read(input, NULL, 0, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    int32_t dims[2] = {UNTOUCHED_INT, UNTOUCHED_INT};
    assert_ok(mnn_tensor_shape(first_output(session), dims, 2, &size));
    assert_int_equal(size, 2);
    assert_int_equal(dims[0], 0);
    assert_int_equal(dims[1], CLASSES);
    assert_ok(mnn_tensor_element_count(first_output(session), &size));
    assert_int_equal(size, 0);
    assert_ok(mnn_tensor_read(first_output(session), NULL, 0, MNN_FORMAT_NCHW));
    assert_ok(mnn_session_destroy(&session));
}

/* The net knows its digits: held-out images beside the model. */
static void digits_are_recognized(void** state) {
    (void)state;
    enum { IMAGES = 540 };
    char path[4096];
    size_t images_size = 0, labels_size = 0;
    const char* slash = strrchr(MNN_C_DIGITS_MODEL, '/');
    const int folder = slash ? (int)(slash - MNN_C_DIGITS_MODEL + 1) : 0;
    snprintf(path, sizeof path, "%.*stest_images.bin", folder, MNN_C_DIGITS_MODEL);
    unsigned char* images = read_whole_file(path, &images_size);
    snprintf(path, sizeof path, "%.*stest_labels.bin", folder, MNN_C_DIGITS_MODEL);
    unsigned char* labels = read_whole_file(path, &labels_size);
    assert_int_equal(images_size, IMAGES * PIXELS);
    assert_int_equal(labels_size, IMAGES);
    mnn_session_t* session = open_session(net);
    size_t right = 0;
    for (size_t i = 0; i < IMAGES; ++i) {
        float pixels[PIXELS], scores[CLASSES];
        for (size_t k = 0; k < PIXELS; ++k) pixels[k] = (float)images[i * PIXELS + k] / 16.0f;
        classify(session, pixels, 1, scores);
        size_t best = 0;
        for (size_t k = 1; k < CLASSES; ++k)
            if (scores[k] > scores[best]) best = k;
        right += best == labels[i];
    }
    free(images);
    free(labels);
    assert_in_range(right, IMAGES * 97 / 100, IMAGES);
    assert_ok(mnn_session_destroy(&session));
}

static void mapping(void** state) {
    (void)state;
    mnn_session_t* session = batch_session(2);
    mnn_tensor_t *input = first_input(session), *output = first_output(session);
    float pixels[2 * PIXELS], wanted[2 * CLASSES], copied[2 * CLASSES];
    fill_pixels(pixels, 2 * PIXELS, 77);
    classify(session, pixels, 2, wanted);

    void* data = NULL;
    assert_ok(mnn_tensor_map(input, MNN_MAP_WRITE, &data));
    assert_non_null(data);
    for (size_t i = 0; i < 2 * PIXELS; ++i) ((float*)data)[i] = 1.0f - pixels[i];
    assert_fails(mnn_tensor_map(input, MNN_MAP_READ, &data), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_tensor_unmap(input));
    assert_fails(mnn_tensor_unmap(input), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_read(output, copied, sizeof copied, MNN_FORMAT_NCHW));
    assert_memory_not_equal(copied, wanted, sizeof wanted);

    assert_ok(mnn_tensor_map(input, MNN_MAP_READ | MNN_MAP_WRITE, &data));
    for (size_t i = 0; i < 2 * PIXELS; ++i) {
        assert_true(((float*)data)[i] == 1.0f - pixels[i]);
        ((float*)data)[i] = pixels[i];
    }
    assert_ok(mnn_tensor_unmap(input));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_map(output, MNN_MAP_READ, &data));
    assert_memory_equal(data, wanted, sizeof wanted);
    assert_ok(mnn_tensor_unmap(output));

    data = UNTOUCHED_POINTER;
    assert_fails(mnn_tensor_map(output, MNN_MAP_WRITE, &data), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_tensor_map(input, 0, &data), MNN_ERROR_INVALID_VALUE);
    assert_fails(mnn_tensor_map(input, 4, &data), MNN_ERROR_INVALID_VALUE);
    assert_fails(mnn_tensor_map(input, MNN_MAP_READ, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_map(NULL, MNN_MAP_READ, &data), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_tensor_unmap(NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_ptr_equal(data, UNTOUCHED_POINTER);
    assert_ok(mnn_session_destroy(&session));

    session = open_session(net);
    assert_fails(mnn_tensor_map(first_output(session), MNN_MAP_READ, &data), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_session_destroy(&session));
}

/* Every tensor of the net, however it is stored, reads the same mapped and copied. */
static void mapped_like_read(void** state) {
    (void)state;
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    size_t ops = 0;
    assert_ok(mnn_interpreter_op_count(net, &ops));
    for (size_t i = 0; i < ops; ++i) {
        size_t outputs = 0;
        const char* name = NULL;
        assert_ok(mnn_interpreter_op_output_count(net, i, &outputs));
        if (outputs == 0) continue;
        assert_ok(mnn_interpreter_op_output_name(net, i, 0, &name));
        config.save_tensors = &name;
        config.save_tensor_count = 1;
        mnn_session_t* session = NULL;
        if (mnn_session_create(net, &config, &session) != MNN_OK) continue; /* a constant, an input */
        float pixels[PIXELS];
        fill_pixels(pixels, PIXELS, 5);
        assert_ok(mnn_tensor_write(first_input(session), pixels, sizeof pixels, MNN_FORMAT_NCHW));
        assert_ok(mnn_session_run(session));
        mnn_tensor_t* tensor = NULL;
        if (mnn_session_output(session, name, &tensor) == MNN_OK) {
            size_t bytes = 0;
            int32_t format = 0;
            assert_ok(mnn_tensor_format(tensor, &format));
            if (format == MNN_FORMAT_NC4HW4) format = MNN_FORMAT_NCHW;
            assert_ok(mnn_tensor_byte_size(tensor, format, &bytes));
            void* copied = malloc(bytes + 1);
            void* data = NULL;
            assert_non_null(copied);
            assert_ok(mnn_tensor_read(tensor, copied, bytes, format));
            assert_ok(mnn_tensor_map(tensor, MNN_MAP_READ, &data));
            assert_memory_equal(data, copied, bytes);
            assert_ok(mnn_tensor_unmap(tensor));
            free(copied);
        }
        assert_ok(mnn_session_destroy(&session));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mapping),        cmocka_unit_test(mapped_like_read),
        cmocka_unit_test(describe),       cmocka_unit_test(rank_two_is_row_major),
        cmocka_unit_test(round_trips),    cmocka_unit_test(layouts_of_saved_tensors),
        cmocka_unit_test(write_misuse),   cmocka_unit_test(read_misuse),
        cmocka_unit_test(null_arguments), cmocka_unit_test(wrong_handles),
        cmocka_unit_test(empty_batch),    cmocka_unit_test(digits_are_recognized),
    };
    return cmocka_run_group_tests_name("tensor", tests, open_net, close_net);
}
