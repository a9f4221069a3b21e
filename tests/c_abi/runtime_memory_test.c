/* The allocator of a runtime: its requests, the release of all blocks, and a failure of each request. */
#include <sys/mman.h>
#include <unistd.h>

#include "runtime.h"

/* Blocks with their size in front, so that a release with another size is detected. */
struct heap {
    long calls, fails_at; /* the call that fails, counted from 1; 0: none */
    bool fails_on;        /* and all that follow */
    long blocks;
    size_t bytes, max_bytes, largest;
    size_t shift; /* bytes by which blocks are misaligned */
    int wrong, finalized;
};

enum { FRONT = 4096 };

static void* heap_allocate(void* user_data, size_t size, size_t alignment) {
    struct heap* heap = user_data;
    ++heap->calls;
    if (heap->fails_at && (heap->calls == heap->fails_at || (heap->fails_on && heap->calls > heap->fails_at)))
        return NULL;
    if (size == 0 || alignment == 0 || (alignment & (alignment - 1)) || alignment > FRONT) ++heap->wrong;
    char* block = aligned_alloc(FRONT, (size + 2 * FRONT + FRONT - 1) / FRONT * FRONT);
    if (!block) return NULL;
    memset(block + FRONT, 0xff, size); /* not zeros: NaN wherever it is read as a float */
    memcpy(block + FRONT - sizeof size + heap->shift, &size, sizeof size);
    ++heap->blocks;
    heap->bytes += size;
    if (heap->bytes > heap->max_bytes) heap->max_bytes = heap->bytes;
    if (size > heap->largest) heap->largest = size;
    return block + FRONT + heap->shift;
}

static void heap_release(void* user_data, void* memory, size_t size, size_t alignment) {
    struct heap* heap = user_data;
    size_t given = 0;
    if (!memory) {
        ++heap->wrong;
        return;
    }
    memcpy(&given, (char*)memory - sizeof given, sizeof given);
    if (given != size || alignment != 64) ++heap->wrong;
    --heap->blocks;
    heap->bytes -= given;
    free((char*)memory - FRONT - heap->shift);
}

static void heap_finalize(void* user_data) {
    ++((struct heap*)user_data)->finalized;
}

static mnn_runtime_t* runtime_on(struct heap* heap) {
    mnn_runtime_config_t config = default_runtime_config();
    config.threads = 2;
    config.allocate = heap_allocate;
    config.release = heap_release;
    config.allocator_user_data = heap;
    config.allocator_finalizer = heap_finalize;
    return make_runtime(&config);
}

static void all_of_it_comes_back(void** state) {
    (void)state;
    struct heap heap = {0};
    float wanted[BATCH * CLASSES];
    batch_scores(6, wanted);
    mnn_interpreter_t* own = open_digits();
    mnn_runtime_t* runtime = runtime_on(&heap);
    assert_int_equal(heap.calls, 0);
    mnn_session_t* session = session_with(own, runtime, 0);
    assert_ok(resize_batch(session, BATCH));
    const mnn_statistics_t memory = statistics_of(session);
    /* Everything that the session counts is from the allocator, except for roundings and slack of each block. */
    assert_in_range(heap.bytes, memory.memory_bytes, memory.memory_bytes + (size_t)heap.blocks * 128);
    assert_true(heap.blocks >= 3);
    const long calls = heap.calls;
    check_batch(session, 6, wanted);
    check_batch(session, 6, wanted);
    assert_int_equal(heap.calls, calls); /* a run allocates nothing */
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_ok(mnn_interpreter_destroy(&own));
    assert_int_equal(heap.finalized, 0);
    assert_ok(mnn_session_destroy(&session));
    assert_int_equal(heap.blocks, 0);
    assert_int_equal(heap.bytes, 0);
    assert_int_equal(heap.wrong, 0);
    assert_int_equal(heap.finalized, 1);
}

/* Weights that another session shares belong to the allocator of the session that prepared them. */
static void shared_weights(void** state) {
    (void)state;
    struct heap first = {0}, second = {0};
    float wanted[BATCH * CLASSES];
    batch_scores(7, wanted);
    mnn_interpreter_t* own = open_digits();
    mnn_runtime_t* runtimes[] = {runtime_on(&first), runtime_on(&second)};
    mnn_session_t* sessions[] = {session_with(own, runtimes[0], 0), session_with(own, runtimes[1], 0)};
    assert_true(first.bytes > second.bytes);
    for (int i = 0; i < 2; ++i) assert_ok(mnn_runtime_destroy(&runtimes[i]));
    assert_ok(mnn_session_destroy(&sessions[0]));
    assert_true(first.blocks > 0);
    assert_int_equal(first.finalized, 0);
    assert_ok(resize_batch(sessions[1], BATCH));
    check_batch(sessions[1], 7, wanted);
    assert_ok(mnn_session_destroy(&sessions[1]));
    assert_int_equal(first.blocks + second.blocks, 0);
    assert_int_equal(first.wrong + second.wrong, 0);
    assert_int_equal(first.finalized + second.finalized, 2);
    assert_ok(mnn_interpreter_destroy(&own));
}

/* Runs the life of a session with a failing call. Returns how many calls there were. */
static long life(long fails_at, bool fails_on, int* failures) {
    struct heap heap = {.fails_at = fails_at, .fails_on = fails_on};
    float wanted[BATCH * CLASSES];
    batch_scores(9, wanted);
    mnn_interpreter_t* own = open_digits();
    mnn_runtime_t* runtime = runtime_on(&heap);
    mnn_session_t* session = NULL;
    mnn_status status = create_with(own, runtime, 0, &session);
    if (status != MNN_OK) {
        assert_int_equal(status, MNN_ERROR_OUT_OF_MEMORY);
        assert_null(session);
        assert_int_equal(heap.blocks, 0); /* a failed creation keeps no block */
        ++*failures;
        heap.fails_at = 0;
        session = session_with(own, runtime, 0);
    }
    status = resize_batch(session, BATCH);
    if (status != MNN_OK) {
        assert_int_equal(status, MNN_ERROR_OUT_OF_MEMORY);
        bool needed = false;
        assert_ok(mnn_session_needs_resize(session, &needed));
        assert_true(needed);
        ++*failures;
        heap.fails_at = 0;
        assert_ok(mnn_session_resize(session));
    }
    const long calls = heap.calls;
    check_batch(session, 9, wanted);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_ok(mnn_interpreter_destroy(&own));
    assert_int_equal(heap.blocks, 0);
    assert_int_equal(heap.bytes, 0);
    assert_int_equal(heap.wrong, 0);
    assert_int_equal(heap.finalized, 1);
    return calls;
}

static void every_failing_call(void** state) {
    (void)state;
    int failures = 0;
    const long calls = life(0, false, &failures);
    assert_int_equal(failures, 0);
    assert_true(calls > 4);
    for (int on = 0; on < 2; ++on)
        for (long n = 1; n <= calls; ++n) {
            failures = 0;
            life(n, on != 0, &failures);
            assert_int_equal(failures, 1);
        }
}

static void misaligned_memory(void** state) {
    (void)state;
    struct heap heap = {.shift = 16};
    mnn_runtime_t* runtime = runtime_on(&heap);
    mnn_session_t* session = NULL;
    assert_fails(create_with(net, runtime, 0, &session), MNN_ERROR_INVALID_VALUE);
    assert_non_null(strstr(mnn_last_error(), "aligned to 64 bytes"));
    assert_null(session);
    assert_int_equal(heap.blocks, 0);
    heap.shift = 0;
    session = session_with(net, runtime, 0);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_int_equal(heap.wrong, 0);
}

/* Blocks of a mapped file, one after another. */
struct file_heap {
    int file;
    size_t bytes;
    int blocks;
};

static void* file_allocate(void* user_data, size_t size, size_t alignment) {
    struct file_heap* heap = user_data;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (size + page - 1) / page * page;
    if (alignment > page || ftruncate(heap->file, (off_t)(heap->bytes + whole)) != 0) return NULL;
    void* memory = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, heap->file, (off_t)heap->bytes);
    if (memory == MAP_FAILED) return NULL;
    heap->bytes += whole;
    ++heap->blocks;
    return memory;
}

static void file_release(void* user_data, void* memory, size_t size, size_t alignment) {
    (void)alignment;
    --((struct file_heap*)user_data)->blocks;
    munmap(memory, size);
}

/* Weights, arenas and staging memory in a file of the host. */
static void memory_of_files(void** state) {
    (void)state;
    char path[] = "/tmp/mnn_memory_XXXXXX";
    struct file_heap heap = {.file = mkstemp(path)};
    assert_true(heap.file >= 0);
    unlink(path);
    float wanted[BATCH * CLASSES];
    batch_scores(11, wanted);
    mnn_runtime_config_t config = default_runtime_config();
    config.threads = 2;
    config.allocate = file_allocate;
    config.release = file_release;
    config.allocator_user_data = &heap;
    mnn_runtime_t* runtime = make_runtime(&config);
    mnn_session_t* session = session_with(net, runtime, 0);
    assert_ok(resize_batch(session, BATCH));
    const mnn_statistics_t memory = statistics_of(session);
    assert_true(memory.weight_bytes > 0 && heap.bytes >= memory.memory_bytes);
    check_batch(session, 11, wanted);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_int_equal(heap.blocks, 0);
    close(heap.file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it_comes_back), cmocka_unit_test(shared_weights),  cmocka_unit_test(every_failing_call),
        cmocka_unit_test(misaligned_memory),    cmocka_unit_test(memory_of_files),
    };
    return cmocka_run_group_tests(tests, open_net, close_net);
}
