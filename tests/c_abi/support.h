/* Shared by the C ABI tests: cmocka, the demo model, status checks that print the sentence. */
#ifndef MNN_C_TESTS_SUPPORT_H
#define MNN_C_TESTS_SUPPORT_H

/* cmocka.h needs these headers before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mnn_c.h"

enum { PIXELS = 64, CLASSES = 10 };

/* The lowest instruction set of the build, which is there on every machine that runs it. */
#ifndef MNN_C_LOWEST_ISA
#define MNN_C_LOWEST_ISA "portable"
#endif

/* A value that no call writes: outputs must still hold it after a failure. */
#define UNTOUCHED_POINTER ((void*)(uintptr_t)0x5a5a5a50)
#define UNTOUCHED_SIZE ((size_t)0x5a5a5a5a)
#define UNTOUCHED_INT ((int32_t)0x5a5a5a5a)

static inline void check_status(mnn_status got, mnn_status wanted, const char* call, const char* file, int line) {
    if (got != wanted) {
        print_error("%s\n  gave %d (%s), wanted %d (%s); last error: %s\n", call, (int)got, mnn_status_name(got),
                    (int)wanted, mnn_status_name(wanted), mnn_last_error());
        _fail(file, line);
    }
    if (wanted != MNN_OK && mnn_last_error()[0] == '\0') {
        print_error("%s\n  failed as wanted, but left no sentence\n", call);
        _fail(file, line);
    }
}

/* Copies the sentence of the last failure. */
static inline void copy_last_error(char* buffer, size_t capacity) {
    size_t needed = 0;
    if (mnn_last_error_copy(buffer, capacity, &needed) != MNN_OK) fail_msg("the sentence has %zu bytes", needed);
}

#define assert_ok(call) check_status((call), MNN_OK, #call, __FILE__, __LINE__)
#define assert_fails(call, wanted) check_status((call), (wanted), #call, __FILE__, __LINE__)

static inline unsigned char* read_whole_file(const char* path, size_t* size) {
    FILE* file = fopen(path, "rb");
    if (!file) {
        print_error("cannot open %s\n", path);
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    const long length = ftell(file);
    fseek(file, 0, SEEK_SET);
    /* malloc: aligned for the model, and the address sanitizer detects a read behind the end */
    unsigned char* bytes = length > 0 ? malloc((size_t)length) : NULL;
    if (bytes && fread(bytes, 1, (size_t)length, file) != (size_t)length) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    *size = bytes ? (size_t)length : 0;
    return bytes;
}

/* Deterministic pixels from 0 to 1; every seed gives other ones. */
static inline void fill_pixels(float* pixels, size_t count, uint32_t seed) {
    uint32_t state = seed * 2654435761u + 12345u;
    for (size_t i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        pixels[i] = (float)(state >> 28) / 16.0f;
    }
}

/* Returns whether Vulkan is built in and has a device. */
static inline bool has_device(void) {
    size_t devices = 0;
    return mnn_device_count(MNN_FORWARD_VULKAN, &devices) == MNN_OK && devices > 0;
}

static inline mnn_interpreter_t* open_digits(void) {
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, NULL, &net));
    assert_non_null(net);
    return net;
}

static inline mnn_session_t* open_session(mnn_interpreter_t* net) {
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(net, NULL, &session));
    assert_non_null(session);
    return session;
}

static inline mnn_tensor_t* first_input(const mnn_session_t* session) {
    mnn_tensor_t* tensor = NULL;
    assert_ok(mnn_session_input(session, NULL, &tensor));
    return tensor;
}

static inline mnn_tensor_t* first_output(const mnn_session_t* session) {
    mnn_tensor_t* tensor = NULL;
    assert_ok(mnn_session_output(session, NULL, &tensor));
    return tensor;
}

static inline mnn_tensor_properties_t tensor_info_of(const mnn_tensor_t* tensor) {
    mnn_tensor_properties_t info = {.struct_size = sizeof info};
    assert_ok(mnn_tensor_info(tensor, &info));
    return info;
}

static inline mnn_session_properties_t session_info_of(const mnn_session_t* session) {
    mnn_session_properties_t info = {.struct_size = sizeof info};
    assert_ok(mnn_session_info(session, &info));
    return info;
}

static inline mnn_statistics_t statistics_of(const mnn_session_t* session) {
    mnn_statistics_t statistics = {.struct_size = sizeof statistics};
    assert_ok(mnn_session_statistics(session, &statistics));
    return statistics;
}

static inline mnn_declaration_t input_info_of(const mnn_interpreter_t* interpreter, size_t index) {
    mnn_declaration_t info = {.struct_size = sizeof info};
    assert_ok(mnn_interpreter_input_info(interpreter, index, &info));
    return info;
}

/* Runs with callbacks. */
static inline mnn_status run_watched(mnn_session_t* session, mnn_op_callback before, mnn_op_callback after,
                                     void* user_data) {
    mnn_run_options_t options;
    assert_ok(mnn_run_options_init(&options, sizeof options));
    options.before = before;
    options.after = after;
    options.user_data = user_data;
    return mnn_session_run_with_options(session, &options);
}

/* Writes `batch` images, runs and reads `batch` rows of scores. */
static inline void classify(mnn_session_t* session, const float* pixels, size_t batch, float* scores) {
    assert_ok(mnn_tensor_write(first_input(session), pixels, batch * PIXELS * sizeof(float), MNN_FORMAT_NCHW));
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_tensor_read(first_output(session), scores, batch * CLASSES * sizeof(float), MNN_FORMAT_NCHW));
}

/* Returns the scores of one seeded image, computed by a separate session. */
static inline void reference_scores(uint32_t seed, float* scores) {
    mnn_interpreter_t* net = open_digits();
    mnn_session_t* session = open_session(net);
    float pixels[PIXELS];
    fill_pixels(pixels, PIXELS, seed);
    classify(session, pixels, 1, scores);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
}

static inline void assert_close(const float* got, const float* wanted, size_t count, float tolerance) {
    for (size_t i = 0; i < count; ++i) {
        const float difference = got[i] > wanted[i] ? got[i] - wanted[i] : wanted[i] - got[i];
        const float size = wanted[i] < 0 ? -wanted[i] : wanted[i];
        if (!(difference <= tolerance * (1.0f + size)))
            fail_msg("element %zu is %.9g, wanted %.9g", i, (double)got[i], (double)wanted[i]);
    }
}

#endif
