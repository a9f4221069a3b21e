/* peak_bytes: the largest number of bytes that a session ever held, compared with the allocator of its runtime. */
#include "runtime.h"

/* The bytes that an allocator has given: the present number, and the maximum. */
struct seen {
    size_t now, peak;
    long blocks;
};

static void* take(void* user_data, size_t size, size_t alignment) {
    struct seen* seen = user_data;
    void* memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (!memory) return NULL;
    seen->now += size;
    ++seen->blocks;
    if (seen->now > seen->peak) seen->peak = seen->now;
    return memory;
}

static void give(void* user_data, void* memory, size_t size, size_t alignment) {
    struct seen* seen = user_data;
    (void)alignment;
    seen->now -= size;
    --seen->blocks;
    free(memory);
}

static mnn_runtime_t* runtime_seen_by(struct seen* seen) {
    mnn_runtime_config_t config = default_runtime_config();
    config.allocate = take;
    config.release = give;
    config.allocator_user_data = seen;
    return make_runtime(&config);
}

static mnn_statistics_t memory_of(const mnn_session_t* session) {
    const mnn_statistics_t memory = statistics_of(session);
    assert_true(memory.peak_memory_bytes >= memory.memory_bytes);
    return memory;
}

static void resize_map(mnn_session_t* session, int32_t extent) {
    int32_t dims[MNN_MAX_RANK];
    size_t rank = 0;
    assert_ok(mnn_tensor_shape(first_input(session), dims, MNN_MAX_RANK, &rank));
    assert_int_equal(rank, 4);
    dims[2] = dims[3] = extent;
    assert_ok(mnn_session_resize_input(session, first_input(session), dims, 4));
    assert_ok(mnn_session_resize(session));
}

/* The peak equals the allocator's, except for roundings and slack of each block, and never falls. Larger and smaller
 * maps use other algorithms, whose weights are allocated and released. */
static void is_what_the_allocator_saw(void** state) {
    (void)state;
    enum { SLACK = 64 * 256 };
    mnn_interpreter_t* model = open_case("convolution__3x3_wide");
    struct seen seen = {0};
    mnn_runtime_t* runtime = runtime_seen_by(&seen);
    mnn_session_t* session = session_with(model, runtime, 0);
    const int32_t extents[] = {14, 96, 48, 4, 1, 96, 14, 2};
    uint64_t before = 0;
    size_t falls = 0, weights = 0;
    for (size_t i = 0; i < sizeof extents / sizeof *extents; ++i)
        for (int trims = 0; trims < 2; ++trims) {
            if (trims)
                assert_ok(mnn_session_trim(session));
            else
                resize_map(session, extents[i]);
            const mnn_statistics_t memory = memory_of(session);
            assert_true(memory.peak_memory_bytes >= before);
            assert_in_range(memory.peak_memory_bytes, seen.peak - SLACK, seen.peak);
            falls += memory.memory_bytes < before;
            weights += before && memory.weight_bytes != weights;
            before = memory.peak_memory_bytes;
        }
    assert_true(falls > 0 && weights > 0); /* something was measured */
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_ok(mnn_interpreter_destroy(&model));
    assert_int_equal(seen.blocks, 0);
}

/* Weights that another session prepares count, also when both sessions are destroyed before the statistics are read. */
static void counts_weights_of_other_sessions(void** state) {
    (void)state;
    mnn_schedule_config_t config = default_config();
    mnn_session_t *session = open_session(net), *other = NULL;
    const mnn_statistics_t alone = memory_of(session);
    config.cpu_isa = MNN_C_LOWEST_ISA; /* its weights have another form than those of the machine's best */
    assert_ok(mnn_session_create(net, &config, &other));
    const mnn_statistics_t both = memory_of(other);
    assert_true(both.weight_bytes > alone.weight_bytes);
    assert_ok(mnn_session_destroy(&other));
    const mnn_statistics_t after = memory_of(session);
    assert_int_equal(after.memory_bytes, alone.memory_bytes);
    assert_int_equal(after.weight_bytes, alone.weight_bytes);
    assert_true(after.peak_memory_bytes >= alone.memory_bytes - alone.weight_bytes + both.weight_bytes);
    mnn_statistics_t statistics = {.struct_size = sizeof statistics};
    assert_ok(mnn_session_statistics(session, &statistics));
    assert_int_equal(statistics.peak_memory_bytes, after.peak_memory_bytes);
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_what_the_allocator_saw),
        cmocka_unit_test(counts_weights_of_other_sessions),
    };
    return cmocka_run_group_tests_name("memory_peak", tests, open_net, close_net);
}
