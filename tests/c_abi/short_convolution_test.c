/* Sessions that keep rows of a convolution over tokens: LinearAttention of type short_conv. */
#include "kept_runs.h"

enum { MIXED = 5, MIXED_TAPS = 4 };

static double weight_of(int channel, int tap) {
    return (double)((channel * MIXED_TAPS + tap) * 7 % 11 - 5) / 8.0;
}

/* The inputs of a token are a factor of the sum's terms, a factor of the sum, and values. */
static double expected_of(const struct tokens* all, int place, int channel) {
    double sum = 0;
    for (int tap = 0; tap < MIXED_TAPS; ++tap) {
        const int row = place + tap - MIXED_TAPS + 1;
        if (row < 0) continue;
        const int token = all->tokens[row];
        sum += weight_of(channel, tap) * (double)number_of(token, 4, channel) *
               (double)number_of(token, 4, 2 * MIXED + channel);
    }
    return sum * (double)number_of(all->tokens[place], 4, MIXED + channel);
}

static void feed_mixed(mnn_session_t* session, const struct tokens* all, int past) {
    const int32_t x[] = {all->count - past, 3 * MIXED, 1, 1};
    assert_ok(mnn_session_resize_input(session, input_of(session, "x"), x, 4));
    assert_ok(mnn_session_resize(session));
    write_numbers(session, "x", all, past, 4, 3 * MIXED);
}

static void add_tokens(mnn_session_t* session, const struct tokens* all, int past) {
    float got[MIXED * MAX_TOKENS];
    const int count = all->count - past;
    feed_mixed(session, all, past);
    assert_ok(mnn_session_run(session));
    assert_ok(
        mnn_tensor_read(output_of(session, "mixed"), got, (size_t)(count * MIXED) * sizeof *got, MNN_FORMAT_NCHW));
    for (int i = 0; i < count * MIXED; ++i) {
        const double wanted = expected_of(all, past + i / MIXED, i % MIXED);
        if (!(fabs((double)got[i] - wanted) <= 1e-6))
            fail_msg("behind %d tokens, number %d: %g, wanted %g", past, i, (double)got[i], wanted);
    }
}

static void in_pieces(void** state) {
    (void)state;
    runs_in_pieces("mixed", add_tokens);
}

/* The state begins anew after a reset, and goes on in another session that loads it. */
static void reset_and_carried_on(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("mixed");
    mnn_session_t *session = session_on(of, MNN_FORWARD_CPU), *other = session_on(of, MNN_FORWARD_CPU);
    struct tokens all;
    make_tokens(&all, 50, 3);
    add_tokens(session, &all, 0);
    assert_ok(mnn_session_state_reset(session));
    make_tokens(&all, 11, 6);
    add_tokens(session, &all, 0);
    const mnn_state_properties_t info = state_of(session);
    assert_int_equal(info.erasable, 0);
    assert_int_equal(info.bytes, 2 * MIXED * (MIXED_TAPS - 1) * sizeof(float));
    feed_mixed(other, &all, 0);
    save_and_load(session, other);
    make_tokens(&all, 11, 8);
    add_tokens(other, &all, 6);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_session_destroy(&other));
    assert_ok(mnn_interpreter_destroy(&of));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_pieces),
        cmocka_unit_test(reset_and_carried_on),
    };
    return cmocka_run_group_tests_name("short_convolution", tests, open_net, close_net);
}
