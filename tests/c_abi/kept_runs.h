/* Runs over tokens in pieces on each backend, and carrying a state on, for nets that keep something from run to run. */
#ifndef MNN_C_TESTS_KEPT_RUNS_H
#define MNN_C_TESTS_KEPT_RUNS_H

#include "kept_net.h"
#include "net_files.h"

/* Adds the tokens behind `past` ones to a session and checks the results. */
typedef void (*add_tokens_of)(mnn_session_t* session, const struct tokens* all, int past);

static inline void runs_of(const char* file, const int* sizes, int count, int32_t backend, add_tokens_of add) {
    mnn_interpreter_t* of = open_net_of(file);
    mnn_session_t* session = session_on(of, backend);
    struct tokens all;
    int past = 0;
    for (int i = 0; i < count; ++i) {
        make_tokens(&all, 11, past + sizes[i]);
        add(session, &all, past);
        past += sizes[i];
        expect_length(session, (uint64_t)past);
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&of));
}

static inline void runs_in_pieces(const char* file, add_tokens_of add) {
    const int whole[] = {30}, ones[] = {1, 1, 1, 1, 1, 1, 1, 1}, chunks[] = {1, 2, 4, 9, 1, 1, 3};
    for (size_t i = 0; i < backend_count(); ++i) {
        runs_of(file, whole, 1, kBackends[i], add);
        runs_of(file, ones, 8, kBackends[i], add);
        runs_of(file, chunks, 7, kBackends[i], add);
    }
}

/* Carries the state of a session to another one through its saved bytes. */
static inline void save_and_load(mnn_session_t* from, mnn_session_t* to) {
    size_t size = 0;
    assert_ok(mnn_session_state_save(from, NULL, 0, &size));
    void* bytes = malloc(size);
    assert_ok(mnn_session_state_save(from, bytes, size, &size));
    assert_ok(mnn_session_state_load(to, bytes, size));
    free(bytes);
}

#endif
