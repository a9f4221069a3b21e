/* mnn_tensor_write() and mnn_tensor_read() in the three layouts. */
#include "digits_net.h"

/* Returns the place of element (n, c, s) of N x C x S as mnn_c.h defines it. */
static size_t offset_in(int32_t format, size_t batch, size_t channels, size_t plane, size_t n, size_t c, size_t s) {
    switch (format) {
        case MNN_FORMAT_NCHW:
            return (n * channels + c) * plane + s;
        case MNN_FORMAT_NHWC:
            return (n * plane + s) * channels + c;
        default:
            return ((c / 4 * batch + n) * plane + s) * 4 + c % 4;
    }
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
                memset(in, 0x7f, bytes_in + 1); /* bytes between the elements are not read */
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
                                fail_msg("batch %zu, format %d to %d, (%zu, %zu, %zu): %g instead of %g", batch,
                                         (int)from, (int)to, n, c, s, (double)got, (double)wanted);
                        }
                assert_int_equal(out[0], 0x5a);
                for (size_t i = 0; i < 8; ++i) assert_int_equal(out[1 + bytes_out + i], 0x5a);
                free(in);
                free(out);
            }
        assert_ok(mnn_session_destroy(&session));
    }
}

/* Tensors with many channels: tensors inside of the net (16, 32 and 1 channels), read in each layout. */
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
                            fail_msg("%s in format %d differs at (%zu, %zu, %zu)", saved[i].name, (int)format, n, c, s);
                    }
            assert_int_equal(((unsigned char*)other)[bytes], 0x5a);
        }
    }
    free(plain);
    free(other);
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_two_is_row_major),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(layouts_of_saved_tensors),
    };
    return cmocka_run_group_tests_name("tensor_layout", tests, open_net, close_net);
}
