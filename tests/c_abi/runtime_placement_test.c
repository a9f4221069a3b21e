/* Cores and power of a runtime place its workers, never the caller's thread; the messages of its log. */
#include "process.h"
#include "runtime.h"

#include "cores.h"

static void cores_of_workers(void** state) {
    (void)state;
    const struct cores all = cores_of_caller();
    float wanted[BATCH * CLASSES];
    batch_scores(2, wanted);
    int tried = 0;
    for (int32_t core = 0; core < MOST_CORES && tried < 2; ++core) {
        if (!has_core(&all, core)) continue;
        ++tried;
        const struct cores one = one_core(core);
        mnn_runtime_config_t config = default_runtime_config();
        config.threads = 4;
        config.cores = &core;
        config.core_count = 1;
        mnn_runtime_t* runtime = make_runtime(&config);
        assert_int_equal(workers_on(&one), 3);
        mnn_session_t* session = session_with(net, runtime, 0);
        assert_ok(resize_batch(session, BATCH));
        check_batch(session, 2, wanted);
        const struct cores now = cores_of_caller();
        assert_true(same_cores(&now, &all));
        assert_ok(mnn_session_destroy(&session));
        assert_ok(mnn_runtime_destroy(&runtime));
        assert_int_equal(settled_thread_count(1), 1);
    }
    assert_true(tried > 0);
}

static void every_power(void** state) {
    (void)state;
    float wanted[BATCH * CLASSES];
    batch_scores(4, wanted);
    for (int32_t power = MNN_POWER_NORMAL; power <= MNN_POWER_LOW; ++power) {
        mnn_runtime_config_t config = default_runtime_config();
        config.threads = 3;
        config.power = power;
        mnn_runtime_t* runtime = make_runtime(&config);
        mnn_schedule_config_t own = default_config();
        own.threads = 2;
        own.power = power;
        mnn_session_t* sessions[2] = {session_with(net, runtime, 0), NULL};
        assert_ok(mnn_session_create(net, &own, &sessions[1]));
        for (int i = 0; i < 2; ++i) {
            assert_ok(resize_batch(sessions[i], BATCH));
            check_batch(sessions[i], 4, wanted);
            assert_ok(mnn_session_destroy(&sessions[i]));
        }
        assert_ok(mnn_runtime_destroy(&runtime));
    }
}

struct book {
    char text[4096];
    int finalized;
};

static void keep(void* user_data, int32_t level, const char* message) {
    struct book* book = user_data;
    const size_t used = strlen(book->text);
    snprintf(book->text + used, sizeof book->text - used, "%d %s\n", (int)level, message);
}

static void finalize(void* user_data) {
    ++((struct book*)user_data)->finalized;
}

static void messages(void** state) {
    (void)state;
    struct book book = {"", 0};
    mnn_runtime_config_t config = default_runtime_config();
    config.threads = 2;
    config.power = MNN_POWER_HIGH;
    config.log_callback = keep;
    config.log_user_data = &book;
    config.log_finalizer = finalize;
    mnn_runtime_t* runtime = make_runtime(&config);
    assert_string_equal(book.text, ""); /* warnings only */
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_int_equal(book.finalized, 1);
    config.log_level = MNN_LOG_INFO;
    runtime = make_runtime(&config);
    assert_non_null(strstr(book.text, "3 runtime created: 2 threads, memory of the library\n"));
    /* One of two messages: the cores that the power chose, or that all are alike. */
    assert_true(!strstr(book.text, "placed on cores") == !!strstr(book.text, "chooses no cores"));

    book.text[0] = '\0';
    mnn_schedule_config_t fallback = default_config();
    mnn_session_t* session = NULL;
    fallback.forward_type = MNN_FORWARD_VULKAN;
    fallback.allow_fallback = 1;
    fallback.device = "a device that is nowhere";
    fallback.runtime = runtime;
    assert_ok(mnn_session_create(net, &fallback, &session));
    assert_non_null(strstr(book.text, "3 the session runs on backend 'cpu' instead of the wanted one: "));
    assert_ok(mnn_runtime_destroy(&runtime));
    assert_int_equal(book.finalized, 1);
    assert_ok(mnn_session_destroy(&session));
    assert_int_equal(book.finalized, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores_of_workers),
        cmocka_unit_test(every_power),
        cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests(tests, open_net, close_net);
}
