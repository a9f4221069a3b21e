/* The nets kept and sums, which keep something from run to run: their inputs for tokens of a conversation, and the
 * expected results in double precision. */
#ifndef MNN_C_TESTS_KEPT_NET_H
#define MNN_C_TESTS_KEPT_NET_H

#include <float.h>
#include <math.h>

#include "support.h"

enum { HEADS = 4, KEY_HEADS = 2, DEPTH = 8, VALUE_DEPTH = 5, WINDOW = 3, MAX_TOKENS = 700 };
enum { QUERY = HEADS * DEPTH, KEY = KEY_HEADS * DEPTH, VALUE = KEY_HEADS * VALUE_DEPTH, RESULT = HEADS * VALUE_DEPTH };

/* The backend of sessions that open_kept() makes. */
static int32_t kept_backend = MNN_FORWARD_CPU;

static inline mnn_session_t* open_kept(mnn_interpreter_t* of) {
    mnn_schedule_config_t config;
    mnn_session_t* session = NULL;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.forward_type = kept_backend;
    assert_ok(mnn_session_create(of, &config, &session));
    return session;
}

/* Returns a number of a token, from -1 to 1; `what` selects queries, keys or values. */
static inline float number_of(int token, int what, int i) {
    const uint32_t mixed = (uint32_t)(token * 7919 + what * 104729 + i * 1299709 + 12345) * 2654435761u;
    return (float)(mixed >> 8) / 8388608.0f - 1;
}

/* The tokens of a conversation, kept ones first. */
struct tokens {
    int tokens[MAX_TOKENS];
    int count;
};

static inline void make_tokens(struct tokens* all, int first, int count) {
    all->count = count;
    for (int i = 0; i < count; ++i) all->tokens[i] = first + i;
}

/* The factors of scores: `own_factor` is in the file, for one of the operators; `score_factor` is that of the others,
 * which a host may set. */
static const double own_factor = 0.35355339059327379; /* 1 / sqrt(DEPTH), as the others have */
static double score_factor = 0.35355339059327379;

static inline double score_of(int query, int key, int head, double factor) {
    double sum = 0;
    for (int c = 0; c < DEPTH; ++c)
        sum += (double)number_of(query, 0, head * DEPTH + c) *
               (double)number_of(key, 1, head / (HEADS / KEY_HEADS) * DEPTH + c);
    return sum * factor;
}

/* The result of the token at a place: it sees itself and the last `window` - 1 before it. */
static inline void result_of(const struct tokens* all, int place, int window, double* out) {
    const double factor = window == WINDOW ? own_factor : score_factor;
    const int first = place + 1 > window ? place + 1 - window : 0;
    for (int head = 0; head < HEADS; ++head) {
        double top = -DBL_MAX, sum = 0;
        double* row = out + head * VALUE_DEPTH;
        for (int c = 0; c < VALUE_DEPTH; ++c) row[c] = 0;
        for (int j = first; j <= place; ++j)
            top = fmax(top, score_of(all->tokens[place], all->tokens[j], head, factor));
        for (int j = first; j <= place; ++j) {
            const double weight = exp(score_of(all->tokens[place], all->tokens[j], head, factor) - top);
            sum += weight;
            for (int c = 0; c < VALUE_DEPTH; ++c)
                row[c] += weight * (double)number_of(all->tokens[j], 2, head / (HEADS / KEY_HEADS) * VALUE_DEPTH + c);
        }
        for (int c = 0; c < VALUE_DEPTH; ++c) row[c] /= sum;
    }
}

static inline mnn_tensor_t* input_of(mnn_session_t* session, const char* name) {
    mnn_tensor_t* tensor = NULL;
    assert_ok(mnn_session_input(session, name, &tensor));
    return tensor;
}

static inline mnn_tensor_t* output_of(mnn_session_t* session, const char* name) {
    mnn_tensor_t* tensor = NULL;
    assert_ok(mnn_session_output(session, name, &tensor));
    return tensor;
}

static _Thread_local float input_room[MAX_TOKENS * MAX_TOKENS * 2];

static inline void write_numbers(mnn_session_t* session, const char* name, const struct tokens* all, int past, int what,
                                 int width) {
    const int count = all->count - past;
    for (int i = 0; i < count; ++i)
        for (int c = 0; c < width; ++c) input_room[i * width + c] = number_of(all->tokens[past + i], what, c);
    assert_ok(mnn_tensor_write(input_of(session, name), input_room, (size_t)(count * width) * sizeof(float),
                               MNN_FORMAT_NCHW));
}

/* Gives the inputs the shapes for `count` tokens behind `past` kept ones. */
static inline void shape_kept(mnn_session_t* session, int past, int count) {
    const int32_t q[] = {1, count, HEADS, DEPTH}, k[] = {1, count, KEY_HEADS, DEPTH};
    const int32_t v[] = {1, count, KEY_HEADS, VALUE_DEPTH}, mask[] = {2, 1, count, past + count};
    assert_ok(mnn_session_resize_input(session, input_of(session, "q"), q, 4));
    assert_ok(mnn_session_resize_input(session, input_of(session, "k"), k, 4));
    assert_ok(mnn_session_resize_input(session, input_of(session, "v"), v, 4));
    assert_ok(mnn_session_resize_input(session, input_of(session, "mask"), mask, 4));
}

/* In entry 0 a token sees itself and all tokens before; in entry 1 it sees the last WINDOW of these. */
static inline void fill_mask(float* mask, int past, int count) {
    for (int entry = 0; entry < 2; ++entry)
        for (int i = 0; i < count; ++i)
            for (int j = 0; j < past + count; ++j) {
                const int query = past + i, window = entry == 0 ? MAX_TOKENS : WINDOW;
                mask[(entry * count + i) * (past + count) + j] = j <= query && j > query - window ? 0 : -FLT_MAX;
            }
}

/* Fills all inputs but the mask. */
static inline void feed_rows(mnn_session_t* session, const struct tokens* all, int past) {
    const int count = all->count - past;
    shape_kept(session, past, count);
    assert_ok(mnn_session_resize(session));
    write_numbers(session, "q", all, past, 0, QUERY);
    write_numbers(session, "k", all, past, 1, KEY);
    write_numbers(session, "v", all, past, 2, VALUE);
}

static inline void feed_kept(mnn_session_t* session, const struct tokens* all, int past) {
    const int count = all->count - past;
    feed_rows(session, all, past);
    fill_mask(input_room, past, count);
    assert_ok(mnn_tensor_write(input_of(session, "mask"), input_room, (size_t)(2 * count * all->count) * sizeof(float),
                               MNN_FORMAT_NCHW));
}

/* Compares the results of the last run, which computed the tokens behind `past` ones. */
static inline void expect_kept(mnn_session_t* session, const struct tokens* all, int past, double tolerance) {
    static const char* const names[] = {"causal", "first", "second"};
    const int count = all->count - past;
    for (int output = 0; output < 3; ++output) {
        const mnn_tensor_t* tensor = output_of(session, names[output]);
        float* got = malloc((size_t)(count * RESULT) * sizeof *got);
        assert_ok(mnn_tensor_read(tensor, got, (size_t)(count * RESULT) * sizeof *got, MNN_FORMAT_NCHW));
        for (int i = 0; i < count; ++i) {
            double wanted[RESULT];
            result_of(all, past + i, output == 2 ? WINDOW : MAX_TOKENS, wanted);
            for (int c = 0; c < RESULT; ++c)
                if (!(fabs((double)got[i * RESULT + c] - wanted[c]) <= tolerance))
                    fail_msg("%s, token %d of %d behind %d, number %d: %g, wanted %g", names[output], i, count, past, c,
                             (double)got[i * RESULT + c], wanted[c]);
        }
        free(got);
    }
}

/* Runs the tokens of the conversation from `past` on, and compares the results. */
static inline void go_on(mnn_session_t* session, const struct tokens* all, int past) {
    feed_kept(session, all, past);
    assert_ok(mnn_session_run(session));
    expect_kept(session, all, past, 2e-6);
}

static inline mnn_state_properties_t state_of(mnn_session_t* session) {
    mnn_state_properties_t info = {.struct_size = sizeof info};
    assert_ok(mnn_session_state_info(session, &info));
    return info;
}

static inline void expect_length(mnn_session_t* session, uint64_t length) {
    assert_int_equal(state_of(session).length, length);
}

/* Returns the saved state of a session in memory that the caller frees. */
static inline unsigned char* saved_of(mnn_session_t* session, size_t* size) {
    assert_ok(mnn_session_state_save(session, NULL, 0, size));
    unsigned char* bytes = malloc(*size);
    size_t needed = 0;
    assert_fails(mnn_session_state_save(session, bytes, *size - 1, &needed), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(needed, *size);
    assert_ok(mnn_session_state_save(session, bytes, *size, &needed));
    assert_int_equal(needed, *size);
    return bytes;
}

#endif
