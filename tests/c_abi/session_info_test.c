/* Descriptions of a session: memory, work and operators. */
#include "digits_net.h"

static void memory_info(void** state) {
    (void)state;
    mnn_session_t *session = open_session(net), *other = open_session(net);
    struct {
        mnn_statistics_t memory;
        unsigned char later[32];
    } mine;
    memset(&mine, 0x5a, sizeof mine);
    mine.memory.struct_size = sizeof mine;
    assert_ok(mnn_session_statistics(session, &mine.memory));
    assert_int_equal(mine.memory.struct_size, sizeof mine);
    for (size_t i = 0; i < sizeof mine.later; ++i) assert_int_equal(mine.later[i], 0x5a);
    /* There are at least 9,930 floats of weights, however they are arranged. */
    assert_in_range(mine.memory.weight_bytes, 9930 * 4, 1 << 20);
    assert_in_range(mine.memory.arena_bytes, 1, 1 << 20);
    assert_true(mine.memory.memory_bytes >= mine.memory.weight_bytes + mine.memory.arena_bytes);
    assert_true(mine.memory.peak_memory_bytes >= mine.memory.memory_bytes);
    const mnn_statistics_t second = statistics_of(other);
    assert_int_equal(second.weight_bytes, mine.memory.weight_bytes); /* shared, not doubled */
    assert_int_equal(second.arena_bytes, mine.memory.arena_bytes);
    const size_t small[] = {0, sizeof(size_t), sizeof second - 1};
    for (size_t i = 0; i < 3; ++i) {
        mnn_statistics_t memory = {.struct_size = small[i], .arena_bytes = 77};
        assert_fails(mnn_session_statistics(session, &memory), MNN_ERROR_VERSION_MISMATCH);
        assert_int_equal(memory.arena_bytes, 77);
        assert_int_equal(memory.struct_size, small[i]);
    }
    const int32_t large[] = {16, 1, 8, 8};
    assert_ok(mnn_session_resize_input(other, first_input(other), large, 4));
    assert_ok(mnn_session_resize(other));
    const mnn_statistics_t grown = statistics_of(other);
    assert_true(grown.arena_bytes > second.arena_bytes);
    assert_true(grown.peak_memory_bytes >= grown.memory_bytes && grown.memory_bytes > second.memory_bytes);
    assert_ok(mnn_session_destroy(&other));
    assert_ok(mnn_session_destroy(&session));
}

static void flops(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    double one = -1, same = -1, eight = -1;
    bool complete = false;
    assert_ok(mnn_session_flops(session, &one, &complete));
    assert_ok(mnn_session_flops(session, &same, NULL));
    assert_true(one == same);
    assert_true(complete);
    /* The products of the layers: 64 * (9 * 16 + 144 * 32) + 512 * 10 multiply-adds. */
    const double layers = 2.0 * (64 * (9 * 16 + 144 * 32) + 512 * 10);
    assert_true(one >= 0.9 * layers && one <= 1.2 * layers);
    const int32_t large[] = {8, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, first_input(session), large, 4));
    assert_ok(mnn_session_resize(session));
    assert_ok(mnn_session_flops(session, &eight, &complete));
    assert_true(eight >= 7.5 * one && eight <= 8.5 * one);
    assert_ok(mnn_session_destroy(&session));
}

static void op_infos(void** state) {
    (void)state;
    mnn_session_t* session = open_session(net);
    size_t count = 0, convolutions = 0;
    double sum = 0, total = 0;
    assert_ok(mnn_session_op_count(session, &count));
    assert_true(count >= 4);
    for (size_t i = 0; i < count; ++i) {
        struct {
            mnn_op_info_t info;
            unsigned char later[32];
        } mine;
        memset(&mine, 0x5a, sizeof mine);
        mine.info.struct_size = sizeof mine;
        assert_ok(mnn_session_op_info(session, i, &mine.info));
        assert_int_equal(mine.info.struct_size, sizeof mine);
        for (size_t k = 0; k < sizeof mine.later; ++k) assert_int_equal(mine.later[k], 0x5a);
        assert_non_null(mine.info.name);
        assert_true(mine.info.type_name && mine.info.type_name[0]);
        assert_string_equal(mine.info.backend_name, "cpu");
        assert_null(mine.info.reason);
        assert_in_range(mine.info.host_shape, 0, 1);
        assert_true(mine.info.flops >= 0);
        sum += mine.info.flops;
        if (strcmp(mine.info.type_name, "Convolution") == 0) {
            ++convolutions;
            assert_true(mine.info.flops > 0);
            assert_int_equal(mine.info.host_shape, 0);
        }
    }
    assert_int_equal(convolutions, 3);
    assert_ok(mnn_session_flops(session, &total, NULL));
    assert_true(sum == total);
    mnn_op_info_t info = {.struct_size = sizeof info, .host_shape = 77};
    assert_fails(mnn_session_op_info(session, count, &info), MNN_ERROR_BAD_INDEX);
    assert_fails(mnn_session_op_info(session, SIZE_MAX, &info), MNN_ERROR_BAD_INDEX);
    const size_t small[] = {0, sizeof(size_t), offsetof(mnn_op_info_t, op_index) - 8};
    for (size_t i = 0; i < 3; ++i) {
        info.struct_size = small[i];
        assert_fails(mnn_session_op_info(session, 0, &info), MNN_ERROR_VERSION_MISMATCH);
    }
    assert_int_equal(info.host_shape, 77);
    assert_null(info.name);
    assert_ok(mnn_session_destroy(&session));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_info),
        cmocka_unit_test(flops),
        cmocka_unit_test(op_infos),
    };
    return cmocka_run_group_tests_name("session info", tests, open_net, close_net);
}
