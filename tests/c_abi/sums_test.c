/* Sessions that keep sums over all tokens: LinearAttention with the gated delta rule. */
#include "kept_runs.h"

enum { CHANNELS = 16, TAPS = 3, SUM_HEADS = 2, SUM_KEY = 3, SUM_VALUE = 5, SUM_RESULT = SUM_HEADS * SUM_VALUE };

static double weight_of(int channel, int tap) {
    return (double)((channel * TAPS + tap) * 7 % 11 - 5) / 8.0;
}

static double gate_of(int token, int head) {
    return -1 - (double)number_of(token, 5, head); /* 0 to -2 */
}

static double factor_of(int token, int head) {
    return 0.5 + 0.5 * (double)number_of(token, 6, head);
}

static double convolved(const struct tokens* all, int place, int channel) {
    double sum = 0;
    for (int tap = 0; tap < TAPS; ++tap) {
        const int row = place + tap - TAPS + 1;
        if (row >= 0) sum += weight_of(channel, tap) * (double)number_of(all->tokens[row], 4, channel);
    }
    return sum / (1 + exp(-sum));
}

static void unit_of(const struct tokens* all, int place, int first, double factor, double* to) {
    double squares = 1e-6;
    for (int c = 0; c < SUM_KEY; ++c) {
        to[c] = convolved(all, place, first + c);
        squares += to[c] * to[c];
    }
    for (int c = 0; c < SUM_KEY; ++c) to[c] *= factor / sqrt(squares);
}

/* The results of all tokens. */
static void expected_sums(const struct tokens* all, double* out) {
    double matrix[SUM_HEADS][SUM_KEY][SUM_VALUE] = {{{0}}};
    for (int place = 0; place < all->count; ++place) {
        double q[SUM_KEY], k[SUM_KEY];
        unit_of(all, place, 0, 1 / sqrt(SUM_KEY), q);
        unit_of(all, place, SUM_KEY, 1, k);
        for (int head = 0; head < SUM_HEADS; ++head)
            for (int c = 0; c < SUM_VALUE; ++c) {
                const double fade = exp(gate_of(all->tokens[place], head));
                double known = 0, result = 0;
                for (int j = 0; j < SUM_KEY; ++j) known += fade * matrix[head][j][c] * k[j];
                const double value = convolved(all, place, 2 * SUM_KEY + head * SUM_VALUE + c);
                const double learnt = factor_of(all->tokens[place], head) * (value - known);
                for (int j = 0; j < SUM_KEY; ++j) {
                    matrix[head][j][c] = fade * matrix[head][j][c] + k[j] * learnt;
                    result += matrix[head][j][c] * q[j];
                }
                out[(place * SUM_HEADS + head) * SUM_VALUE + c] = result;
            }
    }
}

static void feed_sums(mnn_session_t* session, const struct tokens* all, int past) {
    const int count = all->count - past;
    const int32_t x[] = {count, CHANNELS, 1, 1}, heads[] = {count, SUM_HEADS, 1, 1};
    float gates[SUM_HEADS * MAX_TOKENS], factors[SUM_HEADS * MAX_TOKENS];
    assert_ok(mnn_session_resize_input(session, input_of(session, "x"), x, 4));
    assert_ok(mnn_session_resize_input(session, input_of(session, "gates"), heads, 4));
    assert_ok(mnn_session_resize_input(session, input_of(session, "factors"), heads, 4));
    assert_ok(mnn_session_resize(session));
    for (int i = 0; i < count; ++i)
        for (int head = 0; head < SUM_HEADS; ++head) {
            gates[i * SUM_HEADS + head] = (float)gate_of(all->tokens[past + i], head);
            factors[i * SUM_HEADS + head] = (float)factor_of(all->tokens[past + i], head);
        }
    const size_t bytes = (size_t)(count * SUM_HEADS) * sizeof(float);
    write_numbers(session, "x", all, past, 4, CHANNELS);
    assert_ok(mnn_tensor_write(input_of(session, "gates"), gates, bytes, MNN_FORMAT_NCHW));
    assert_ok(mnn_tensor_write(input_of(session, "factors"), factors, bytes, MNN_FORMAT_NCHW));
}

static void expect_sums(mnn_session_t* session, const struct tokens* all, int past) {
    static double wanted[MAX_TOKENS * SUM_RESULT];
    const int count = (all->count - past) * SUM_RESULT;
    float* got = malloc((size_t)count * sizeof *got);
    assert_ok(mnn_tensor_read(output_of(session, "sums"), got, (size_t)count * sizeof *got, MNN_FORMAT_NCHW));
    expected_sums(all, wanted);
    for (int i = 0; i < count; ++i)
        if (!(fabs((double)got[i] - wanted[past * SUM_RESULT + i]) <= 2e-6))
            fail_msg("behind %d tokens, number %d: %g, wanted %g", past, i, (double)got[i],
                     wanted[past * SUM_RESULT + i]);
    free(got);
}

static void add_tokens(mnn_session_t* session, const struct tokens* all, int past) {
    feed_sums(session, all, past);
    assert_ok(mnn_session_run(session));
    expect_sums(session, all, past);
}

static void in_pieces(void** state) {
    (void)state;
    runs_in_pieces("sums", add_tokens);
}

static int32_t stop_after(void* user_data, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    (void)op;
    (void)tensors;
    (void)count;
    return --*(int*)user_data == 0 ? MNN_OP_STOP : MNN_OP_RUN;
}

/* Sums are as they were before a run that stops behind the operator, and begin anew after a reset. */
static void stopped_and_reset(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("sums");
    mnn_session_t* session = session_on(of, MNN_FORWARD_CPU);
    struct tokens all, other;
    make_tokens(&all, 11, 5);
    add_tokens(session, &all, 0);
    make_tokens(&other, 11, 5);
    for (int i = 0; i < 3; ++i) other.tokens[other.count++] = 400 + i;
    feed_sums(session, &other, 5);
    int calls = 1;
    assert_int_equal(run_watched(session, NULL, stop_after, &calls), MNN_ERROR_CALLBACK_STOP);
    expect_length(session, 5);
    make_tokens(&all, 11, 7);
    add_tokens(session, &all, 5);
    assert_ok(mnn_session_state_reset(session));
    make_tokens(&all, 90, 1);
    add_tokens(session, &all, 0);
    make_tokens(&all, 90, 4);
    add_tokens(session, &all, 1);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&of));
}

/* Tokens cannot be taken out of sums; but sums are copied, saved and loaded. */
static void carried_on(void** state) {
    (void)state;
    mnn_interpreter_t* of = open_net_of("sums");
    mnn_session_t *session = session_on(of, MNN_FORWARD_CPU), *other = session_on(of, MNN_FORWARD_CPU);
    struct tokens all;
    make_tokens(&all, 11, 6);
    add_tokens(session, &all, 0);
    const mnn_state_properties_t info = state_of(session);
    assert_int_equal(info.erasable, 0);
    assert_int_equal(info.operators, 1);
    assert_int_equal(info.bytes, 2 * (CHANNELS * (TAPS - 1) + SUM_HEADS * SUM_KEY * SUM_VALUE) * sizeof(float));
    assert_fails(mnn_session_state_erase(session, 2, 6), MNN_ERROR_NOT_SUPPORTED);
    expect_length(session, 6);
    feed_sums(other, &all, 0);
    assert_ok(mnn_session_state_copy(session, other));
    make_tokens(&all, 11, 8);
    add_tokens(other, &all, 6);
    save_and_load(session, other);
    make_tokens(&all, 11, 9);
    add_tokens(other, &all, 6);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_session_destroy(&other));
    assert_ok(mnn_interpreter_destroy(&of));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_pieces),
        cmocka_unit_test(stopped_and_reset),
        cmocka_unit_test(carried_on),
    };
    return cmocka_run_group_tests_name("sums", tests, open_net, close_net);
}
