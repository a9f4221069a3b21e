/* A Vulkan device through the C interface: results, cache, forks, threads, and released resources. Skipped (exit code
 * 77) where there is no device. */
#include "process.h"
#include "support.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, WARM_ROUNDS = 50 };

static mnn_interpreter_t* net;
static int cycles = 1000; /* argument 1 */

static mnn_schedule_config_t vulkan_config(int32_t gpu_mode) {
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.forward_type = MNN_FORWARD_VULKAN;
    config.gpu_mode = gpu_mode;
    return config;
}

static mnn_session_t* vulkan_session(mnn_interpreter_t* of, int32_t gpu_mode) {
    const mnn_schedule_config_t config = vulkan_config(gpu_mode);
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create(of, &config, &session));
    return session;
}

static mnn_status try_classify(mnn_session_t* session, uint32_t seed, float* scores) {
    mnn_tensor_t *input = NULL, *output = NULL;
    float pixels[PIXELS];
    fill_pixels(pixels, PIXELS, seed);
    mnn_status status = mnn_session_input(session, NULL, &input);
    if (status == MNN_OK) status = mnn_session_output(session, NULL, &output);
    if (status == MNN_OK) status = mnn_tensor_write(input, pixels, sizeof pixels, MNN_FORMAT_NCHW);
    if (status == MNN_OK) status = mnn_session_run(session);
    if (status == MNN_OK) status = mnn_tensor_read(output, scores, CLASSES * sizeof(float), MNN_FORMAT_NCHW);
    return status;
}

static void equals_the_cpu(void** state) {
    (void)state;
    const int32_t modes[] = {MNN_GPU_RECORD_OP, MNN_GPU_RECORD_BATCH};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i) {
        mnn_session_t* session = vulkan_session(net, modes[i]);
        for (uint32_t seed = 0; seed < 5; ++seed) {
            float wanted[CLASSES], got[CLASSES];
            reference_scores(seed, wanted);
            assert_ok(try_classify(session, seed, got));
            assert_close(got, wanted, CLASSES, 1e-4f);
        }
        assert_ok(mnn_session_destroy(&session));
    }
}

static void batches_resize(void** state) {
    (void)state;
    mnn_session_t* session = vulkan_session(net, 0);
    mnn_tensor_t *input = NULL, *output = NULL;
    assert_ok(mnn_session_input(session, NULL, &input));
    const int32_t batches[] = {3, 1, 7, 1};
    for (size_t i = 0; i < 4; ++i) {
        const int32_t dims[] = {batches[i], 1, 8, 8};
        assert_ok(mnn_session_resize_input(session, input, dims, 4));
        assert_ok(mnn_session_resize(session));
        assert_ok(mnn_session_output(session, NULL, &output));
        float pixels[7 * PIXELS], scores[7 * CLASSES], wanted[CLASSES];
        for (int32_t n = 0; n < batches[i]; ++n) fill_pixels(pixels + n * PIXELS, PIXELS, (uint32_t)n);
        assert_ok(mnn_tensor_write(input, pixels, (size_t)batches[i] * PIXELS * sizeof(float), MNN_FORMAT_NCHW));
        assert_ok(mnn_session_run(session));
        assert_ok(mnn_tensor_read(output, scores, (size_t)batches[i] * CLASSES * sizeof(float), MNN_FORMAT_NCHW));
        for (int32_t n = 0; n < batches[i]; ++n) {
            reference_scores((uint32_t)n, wanted);
            assert_close(scores + n * CLASSES, wanted, CLASSES, 1e-4f);
        }
    }
    assert_ok(mnn_session_destroy(&session));
}

/* Gives bytes to a session and returns whether they were accepted; the results must be right either way. */
static bool accepted(const void* bytes, size_t size) {
    mnn_interpreter_t* fresh = open_digits();
    assert_ok(mnn_interpreter_set_cache(fresh, bytes, size));
    mnn_session_t* session = vulkan_session(fresh, 0);
    bool taken = false;
    assert_ok(mnn_session_cache_accepted(session, &taken));
    float got[CLASSES], wanted[CLASSES];
    reference_scores(3, wanted);
    assert_ok(try_classify(session, 3, got));
    assert_close(got, wanted, CLASSES, 1e-4f);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&fresh));
    return taken;
}

static void cache_bytes(void** state) {
    (void)state;
    mnn_session_t* session = vulkan_session(net, 0);
    size_t size = 0;
    assert_ok(mnn_session_cache(session, NULL, 0, &size));
    assert_true(size > 32);
    unsigned char* bytes = malloc(size);
    assert_non_null(bytes);
    size_t needed = 0;
    assert_fails(mnn_session_cache(session, bytes, size - 1, &needed), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(needed, size);
    assert_ok(mnn_session_cache(session, bytes, size, &needed));
    assert_int_equal(needed, size);
    assert_ok(mnn_session_destroy(&session));

    assert_true(accepted(bytes, size));
    assert_false(accepted(NULL, 0));
    for (size_t cut = 0; cut < size; cut += 1 + size / 16) assert_false(accepted(bytes, cut));
    for (size_t at = 0; at < size; at += 1 + size / 24) {
        bytes[at] ^= 0x40;
        assert_false(accepted(bytes, size));
        bytes[at] ^= 0x40;
    }
    free(bytes);

    mnn_session_t* cpu = open_session(net);
    assert_ok(mnn_session_cache(cpu, NULL, 0, &size));
    assert_int_equal(size, 0);
    assert_ok(mnn_session_destroy(&cpu));
}

static bool accepted_from(const char* path) {
    mnn_interpreter_t* fresh = open_digits();
    assert_ok(mnn_interpreter_set_cache_file(fresh, path));
    mnn_session_t* session = vulkan_session(fresh, 0);
    bool taken = false;
    assert_ok(mnn_session_cache_accepted(session, &taken));
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&fresh));
    return taken;
}

static void cache_file(void** state) {
    (void)state;
    char folder[] = "/tmp/mnn_c_cache_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/cache", folder);
    assert_false(accepted_from(path)); /* it is written */
    assert_true(accepted_from(path));
    assert_int_equal(entries_of(folder), 1); /* no temporary file is left */

    struct stat info;
    assert_int_equal(chmod(path, 0604), 0); /* the file that replaces it has its rights */
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    fputs("not a cache", file);
    fclose(file);
    assert_false(accepted_from(path)); /* replaced */
    assert_int_equal(stat(path, &info), 0);
#ifndef _WIN32 /* where files have no such rights */
    assert_int_equal(info.st_mode, S_IFREG | 0604);
#endif
    assert_true(accepted_from(path));
    assert_false(accepted_from(folder));
    assert_false(accepted_from("/proc/no/such/folder/cache"));

    mnn_session_t* session = vulkan_session(net, 0);
    assert_fails(mnn_interpreter_update_cache_file(net, session), MNN_ERROR_BAD_STATE);
    assert_ok(mnn_interpreter_set_cache_file(net, "/proc/no/such/folder/cache"));
    assert_fails(mnn_interpreter_update_cache_file(net, session), MNN_ERROR_FILE_OPEN_FAILED);
    assert_ok(mnn_interpreter_set_cache_file(net, path));
    assert_ok(mnn_interpreter_update_cache_file(net, session));
    assert_ok(mnn_interpreter_set_cache_file(net, NULL));
    assert_ok(mnn_session_destroy(&session));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* A child inherits handles, but not their driver threads. */
static void forked_child(void** state) {
    (void)state;
    mnn_session_t* session = vulkan_session(net, 0);
    float before[CLASSES], after[CLASSES];
    assert_ok(try_classify(session, 11, before));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        float scores[CLASSES];
        const bool refused = try_classify(session, 11, scores) == MNN_ERROR_BAD_STATE;
        const bool explained = strstr(mnn_last_error(), "process") != NULL;
        mnn_session_t* another = NULL;
        mnn_schedule_config_t config;
        mnn_schedule_config_init(&config, sizeof config);
        config.forward_type = MNN_FORWARD_VULKAN;
        const bool none = mnn_session_create(net, &config, &another) == MNN_ERROR_BACKEND_MISSING;
        const bool freed = mnn_session_destroy(&session) == MNN_OK;
        _exit(refused && explained && none && freed ? 0 : 1);
    }
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    assert_ok(try_classify(session, 11, after));
    assert_memory_equal(before, after, sizeof before);
    assert_ok(mnn_session_destroy(&session));
}

struct work {
    mnn_status status;
    float scores[CLASSES];
};

static void* run_alone(void* data) {
    struct work* work = data;
    mnn_session_t* session = NULL;
    mnn_schedule_config_t config;
    work->status = mnn_schedule_config_init(&config, sizeof config);
    config.forward_type = MNN_FORWARD_VULKAN;
    if (work->status == MNN_OK) work->status = mnn_session_create(net, &config, &session);
    for (int round = 0; round < 10 && work->status == MNN_OK; ++round)
        work->status = try_classify(session, 21, work->scores);
    mnn_session_destroy(&session);
    return NULL;
}

static void sessions_on_threads(void** state) {
    (void)state;
    enum { WORKERS = 4 };
    struct work works[WORKERS] = {{0}};
    pthread_t threads[WORKERS];
    float wanted[CLASSES];
    reference_scores(21, wanted);
    for (int i = 0; i < WORKERS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, run_alone, &works[i]), 0);
    for (int i = 0; i < WORKERS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < WORKERS; ++i) {
        assert_int_equal(works[i].status, MNN_OK);
        assert_close(works[i].scores, wanted, CLASSES, 1e-4f);
    }
}

/* Sessions are created and destroyed; a first one keeps the device. */
static void sessions_leave_nothing(void** state) {
    (void)state;
    mnn_session_t* keeper = vulkan_session(net, 0);
    const int threads = thread_count();
    int descriptors = 0;
    long resident = 0;
    for (int round = 0; round < cycles; ++round) {
        if (round == WARM_ROUNDS) {
            resident = resident_kib();
            descriptors = descriptor_count();
        }
        float scores[CLASSES];
        mnn_session_t* session = vulkan_session(net, round % 2 ? MNN_GPU_RECORD_OP : 0);
        assert_ok(try_classify(session, (uint32_t)round, scores));
        assert_ok(mnn_session_destroy(&session));
        assert_int_equal(settled_thread_count(threads), threads);
    }
    assert_int_equal(descriptor_count(), descriptors);
    const long grown = resident_kib() - resident;
    print_message("%d sessions: resident memory grew by %ld KiB after round %d\n", cycles, grown, WARM_ROUNDS);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they keep freed memory for a while */
    assert_true(grown < 2048);
#endif
    assert_ok(mnn_session_destroy(&keeper));
}

/* The device itself is created and destroyed. The driver keeps a little of each instance, so memory is not checked. */
static void devices_leave_nothing(void** state) {
    (void)state;
    enum { ROUNDS = 60 };
    const int threads = thread_count();
    int descriptors = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        if (round == 2) descriptors = descriptor_count();
        float scores[CLASSES];
        mnn_session_t* session = vulkan_session(net, 0);
        assert_ok(try_classify(session, (uint32_t)round, scores));
        assert_ok(mnn_session_destroy(&session));
        assert_int_equal(settled_thread_count(threads), threads);
    }
    assert_int_equal(descriptor_count(), descriptors);
}

int main(int argc, char** argv) {
    if (argc > 1) cycles = atoi(argv[1]);
    if (cycles <= WARM_ROUNDS) return 2;
    net = open_digits();
    mnn_schedule_config_t config;
    mnn_session_t* session = NULL;
    if (mnn_schedule_config_init(&config, sizeof config) != MNN_OK) return 1;
    config.forward_type = MNN_FORWARD_VULKAN;
    const mnn_status status = mnn_session_create(net, &config, &session);
    if (status == MNN_ERROR_BACKEND_MISSING) {
        print_message("skipped: %s\n", mnn_last_error());
        mnn_interpreter_destroy(&net);
        return SKIPPED;
    }
    mnn_session_destroy(&session);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_cpu),
        cmocka_unit_test(batches_resize),
        cmocka_unit_test(cache_bytes),
        cmocka_unit_test(cache_file),
        cmocka_unit_test(forked_child),
        cmocka_unit_test(sessions_on_threads),
        cmocka_unit_test(sessions_leave_nothing),
        cmocka_unit_test(devices_leave_nothing),
    };
    const int failed = cmocka_run_group_tests_name("vulkan", tests, NULL, NULL);
    mnn_interpreter_destroy(&net);
    return failed;
}
