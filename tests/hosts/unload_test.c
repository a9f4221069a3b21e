/*
 * The example plugin host in a process that looks at itself after each dlclose: nothing of the library may be
 * mapped, open or running, nothing else may pile up, and the heap has to stay as it is.
 *
 *     unload_test LIBRARY FOLDER dynamic|static cpu|vulkan [ROUNDS]
 *
 * static: the library brings its own libstdc++.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <malloc.h>
#include <stdarg.h>

#include "../c_abi/process.h"
#include "digits.h"
#include "snapshot.h"

enum {
    SKIPPED = 77,
    HEAP_SLACK = 8192,  /* bytes over half of the rounds: glibc's caches take a while to settle, and the
                           smallest leak a round, a chunk of 32 bytes, is twice as much */
    WANTED_RIGHT = 533, /* of 540: what examples/c/classify_digits prints */
    CPU_ROUNDS = 1000,
    VULKAN_ROUNDS = 30 /* half a second each with a software driver: 1,000 only when asked for */
};

static void fail(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    exit(1);
}

static size_t heap_bytes(void) {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* The library of backend_plugin.c, and the functions that fill its structs. */
typedef struct brought {
    void* library;
    void (*fill_backend)(mnn_backend_t* backend);
    void (*fill_operator)(mnn_operator_t* op);
} brought_t;

static brought_t bring(void) {
    brought_t brought = {.library = dlopen(MNN_C_BACKEND_PLUGIN, RTLD_NOW | RTLD_LOCAL)};
    if (!brought.library) fail("%s", dlerror());
    *(void**)&brought.fill_backend = dlsym(brought.library, "fill_backend");
    *(void**)&brought.fill_operator = dlsym(brought.library, "fill_operator");
    if (!brought.fill_backend || !brought.fill_operator) fail("%s", dlerror());
    return brought;
}

/* Unloads it before the library that ran it. */
static void send_away(brought_t* brought, int finalized) {
    if (finalized != 1) fail("what the plug-in brought was finalized %d times", finalized);
    dlclose(brought->library);
    if (mappings_of("backend_plugin") != 0) fail("the library of the plug-in is still mapped");
}

static void play_backend(const plugin_t* mnn, const char* model) {
    brought_t brought = bring();
    mnn_interpreter_t* net = NULL;
    mnn_runtime_t* runtime = NULL;
    mnn_session_t* session = NULL;
    mnn_backend_t backend;
    mnn_schedule_config_t config;
    int finalized = 0;
    mnn_status status = mnn->runtime_create(NULL, &runtime);
    if (status == MNN_OK) status = mnn->interpreter_create_from_file(model, NULL, &net);
    if (status == MNN_OK) status = mnn->schedule_config_init(&config, sizeof config);
    if (status == MNN_OK) status = mnn->backend_init(&backend, sizeof backend);
    if (status != MNN_OK) fail("%s", mnn->last_error());
    brought.fill_backend(&backend);
    backend.user_data = &finalized;
    config.runtime = runtime;
    status = mnn->runtime_add_backend(runtime, &backend, &config.forward_type);
    if (status == MNN_OK) status = mnn->session_create(net, &config, &session);
    if (status == MNN_OK) status = mnn->session_run(session);
    if (status == MNN_OK) status = mnn->runtime_destroy(&runtime);
    if (status == MNN_OK) status = mnn->session_destroy(&session);
    if (status == MNN_OK) status = mnn->interpreter_destroy(&net);
    if (status != MNN_OK) fail("%s", mnn->last_error());
    send_away(&brought, finalized);
}

/* The operator computes a node of a session on this backend. */
static void play_operator(const plugin_t* mnn, int32_t forward_type) {
    brought_t brought = bring();
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_operator_t op;
    mnn_schedule_config_t config;
    int finalized = 0;
    mnn_status status = mnn->interpreter_create_from_file(MNN_C_SHRINK_MODEL, NULL, &net);
    if (status == MNN_OK) status = mnn->schedule_config_init(&config, sizeof config);
    if (status == MNN_OK) status = mnn->operator_init(&op, sizeof op);
    if (status != MNN_OK) fail("%s", mnn->last_error());
    brought.fill_operator(&op);
    op.user_data = &finalized;
    config.forward_type = forward_type;
    status = mnn->interpreter_add_operator(net, &op);
    if (status == MNN_OK) status = mnn->session_create(net, &config, &session);
    if (status == MNN_OK) status = mnn->session_run(session);
    if (status == MNN_OK) status = mnn->session_destroy(&session);
    if (status == MNN_OK) status = mnn->interpreter_destroy(&net);
    if (status != MNN_OK) fail("%s", mnn->last_error());
    send_away(&brought, finalized);
}

/* Runs one life of the plugin; returns false when there is no such backend. */
static bool play(const char* path, const digits_t* digits, int32_t forward_type, int32_t threads, const char* name,
                 bool alone) {
    plugin_t plugin;
    char message[1024] = "";
    size_t right = 0;
    if (!plugin_open(&plugin, path, message, sizeof message)) fail("%s", message);
    if (mappings_of(name) <= 0) fail("'%s' is not mapped while it is loaded", name);
    if (alone && mappings_of("libstdc++.so") != 0) fail("'%s' brought a libstdc++.so along", name);
    const mnn_status status = digits_classify(&plugin, digits, forward_type, threads, &right, message, sizeof message);
    if (status != MNN_OK && status != MNN_ERROR_BACKEND_MISSING) fail("%s", message);
    if (status == MNN_OK && right != WANTED_RIGHT) fail("%zu images right, wanted %d", right, WANTED_RIGHT);
    if (forward_type == MNN_FORWARD_CPU) play_backend(&plugin, digits->model);
    if (status == MNN_OK) play_operator(&plugin, forward_type);
    char leaving[1024];
    if (!plugin_close(&plugin, leaving, sizeof leaving)) fail("%s", leaving);
    if (status != MNN_OK) printf("skipped: %s\n", message);
    return status == MNN_OK;
}

static void check_gone(const char* name, const char* model, long round) {
    if (mappings_of(name) != 0) fail("round %ld: '%s' is still mapped after dlclose", round, name);
    if (mappings_of(model) != 0) fail("round %ld: '%s' is still mapped after dlclose", round, model);
    const int left = settled_thread_count(1);
    if (left != 1) fail("round %ld: %d threads after dlclose", round, left);
}

int main(int argc, char** argv) {
    static snapshot_t second, now;
    if (argc < 5 || argc > 6) return 2;
    const bool vulkan = strcmp(argv[4], "vulkan") == 0;
    const bool alone = strcmp(argv[3], "static") == 0 && !vulkan; /* a driver needs libstdc++.so, too */
    const long rounds = argc == 6 ? atol(argv[5]) : vulkan ? VULKAN_ROUNDS : CPU_ROUNDS;
    if (rounds < 4) fail("at least 4 rounds, please");
    const char* const name = basename(argv[1]);
    digits_t digits;
    char message[1024];
    if (!digits_read(&digits, argv[2], message, sizeof message)) fail("%s", message);

    size_t heap = 0;
    for (long round = 1; round <= rounds; ++round) {
        /* Rounds alternate between one thread and several. */
        if (!play(argv[1], &digits, vulkan ? MNN_FORWARD_VULKAN : MNN_FORWARD_CPU, round % 2 ? 3 : 1, name, alone)) {
            if (round > 1) fail("round %ld: the backend is not there any more", round);
            return SKIPPED;
        }
        check_gone(name, "digits.mnn", round);
        /* Libraries that the library depends on, above all a driver, may stay after the first round. */
        if (!snapshot_take(round == 2 ? &second : &now)) fail("/proc/self cannot be read");
        if (round > 2 && !snapshot_equal(&second, &now))
            fail("round %ld: other mapped files or descriptors than after round 2", round);
        if (round == rounds / 2) heap = heap_bytes();
    }
    const long long grown = (long long)heap_bytes() - (long long)heap;
    printf("%ld rounds: nothing is mapped, open or running; the heap grew by %lld bytes in the second half\n", rounds,
           grown);
    digits_free(&digits);
    /* A driver keeps a little of each instance, so the heap is not checked with one. */
    if (!vulkan && grown > HEAP_SLACK) fail("that is %lld bytes a round", grown / (rounds - rounds / 2));
    return 0;
}
