/* mnn_session_report and mnn_interpreter_report. The test of the tool reads the contents of the graphs. */
#include "digits_net.h"

static mnn_session_t* make_session(int32_t record) {
    mnn_schedule_config_t config;
    mnn_session_t* session = NULL;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.record_plan = record;
    assert_ok(mnn_session_create(net, &config, &session));
    return session;
}

/* The caller frees it. */
static char* report(const mnn_session_t* session, const char* what) {
    size_t size = 0;
    assert_ok(mnn_session_report(session, what, NULL, 0, &size));
    assert_true(size > 0);
    char* text = malloc(size + 1);
    assert_non_null(text);
    text[size] = 0x5a;
    size_t needed = 0;
    assert_ok(mnn_session_report(session, what, text, size, &needed));
    assert_int_equal(needed, size);
    assert_int_equal(strlen(text) + 1, size);
    assert_int_equal(text[size], 0x5a);
    return text;
}

/* Each pass has its own report, and all reports are parts of the whole plan. */
static void plans(void** state) {
    (void)state;
    mnn_session_t* session = make_session(1);
    char* names = report(session, "passes");
    char* whole = report(session, "plan");
    assert_non_null(strstr(whole, "before the passes"));
    size_t count = 0;
    for (char* name = strtok(names, "\n"); name; name = strtok(NULL, "\n")) {
        char what[100], title[100];
        snprintf(what, sizeof what, "plan after:%s", name);
        snprintf(title, sizeof title, "main graph, stage 0, after %s\n", name);
        char* text = report(session, what);
        assert_true(strncmp(text, title, strlen(title)) == 0);
        assert_non_null(strstr(text, "Convolution"));
        assert_non_null(strstr(whole, text));
        free(text);
        ++count;
    }
    assert_true(count > 1);
    free(whole);
    free(names);
    assert_ok(mnn_session_destroy(&session));
}

static void algorithms(void** state) {
    (void)state;
    mnn_session_t* session = make_session(0);
    char* text = report(session, "algorithms");
    size_t count = 0, lines = 0;
    assert_ok(mnn_session_op_count(session, &count));
    for (const char* at = text; *at; ++at) lines += *at == '\n';
    assert_int_equal(lines, count);
    mnn_op_info_t info = {.struct_size = sizeof info};
    assert_ok(mnn_session_op_info(session, 0, &info));
    assert_non_null(strstr(text, info.name));
    assert_non_null(strstr(text, info.type_name));
    free(text);
    assert_ok(mnn_session_destroy(&session));
}

/* With a recorded plan, the algorithms of each convolution follow it, exactly one of them chosen. */
static void candidates(void** state) {
    (void)state;
    mnn_session_t* session = make_session(1);
    char* text = report(session, "algorithms");
    size_t convolutions = 0, chosen = 0, all = 0;
    int open = 0; /* algorithms chosen for the convolution above */
    for (char* line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        const int taken = line[0] == '*';
        if (taken || line[0] == '\t') {
            double cycles = 0;
            char name[64] = "";
            assert_int_equal(sscanf(line + taken, "\t%63s\t%lf cycles", name, &cycles), 2);
            assert_true(cycles > 0);
            ++all;
            chosen += (size_t)taken;
            open += taken;
            continue;
        }
        assert_true(open <= 1);
        open = 0;
        convolutions += strstr(line, "\tConvolution\t") != NULL;
    }
    assert_true(convolutions > 0);
    assert_int_equal(chosen, convolutions);
    assert_true(all > chosen);
    free(text);
    assert_ok(mnn_session_destroy(&session));
}

/* With record_plan 2 each algorithm has its milliseconds, and only a chosen one can be marked as slow. */
static void measured(void** state) {
    (void)state;
    mnn_session_t* session = make_session(2);
    char* text = report(session, "algorithms");
    size_t all = 0, slow = 0;
    for (char* line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        const int taken = line[0] == '*';
        if (!taken && line[0] != '\t') continue;
        double cycles = 0, ms = 0;
        char name[64] = "", mark = 0;
        const int fields = sscanf(line + taken, "\t%63s\t%lf cycles\t%lf ms\t%c", name, &cycles, &ms, &mark);
        assert_true(fields == 3 || (fields == 4 && taken && mark == '!'));
        assert_true(cycles > 0 && ms > 0);
        ++all;
        slow += fields == 4;
    }
    assert_true(all > 0);
    free(text);
    text = report(session, "graph");
    size_t listed = 0, marked = 0;
    for (const char* at = text; (at = strstr(at, "\"cycles\":")) != NULL; ++at) {
        const char* end = strchr(at, '}');
        const char* ms = strstr(at, ",\"ms\":");
        assert_true(ms && end && ms < end);
        assert_true(strtod(ms + 6, NULL) > 0);
        ++listed;
    }
    for (const char* at = text; (at = strstr(at, "\"slow\":true")) != NULL; ++at) ++marked;
    assert_int_equal(listed, all);
    assert_true(marked >= slow);
    free(text);
    assert_ok(mnn_session_destroy(&session));
}

/* The texts of the model and of the session name the same operators, and fill a buffer of their size. */
static void graphs(void** state) {
    (void)state;
    mnn_session_t* session = make_session(0);
    char* planned = report(session, "graph");
    size_t size = 0, needed = 0, count = 0;
    assert_ok(mnn_interpreter_report(net, "graph", NULL, 0, &size));
    char* text = malloc(size + 1);
    assert_non_null(text);
    text[size] = 0x5a;
    assert_fails(mnn_interpreter_report(net, "graph", text, size - 1, &needed), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_ok(mnn_interpreter_report(net, "graph", text, size, &needed));
    assert_int_equal(needed, size);
    assert_int_equal(strlen(text) + 1, size);
    assert_int_equal(text[size], 0x5a);
    assert_ok(mnn_interpreter_op_count(net, &count));
    assert_true(count > 2);
    for (size_t i = 0; i < count; ++i) {
        const char* name = NULL;
        char member[200];
        assert_ok(mnn_interpreter_op_name(net, i, &name));
        snprintf(member, sizeof member, "\"name\":\"%s\",\"inputs\"", name);
        assert_non_null(strstr(text, member));
    }
    assert_ok(mnn_session_op_count(session, &count));
    assert_true(count > 2);
    for (size_t i = 0; i < count; ++i) {
        mnn_op_info_t info = {.struct_size = sizeof info};
        char member[300];
        assert_ok(mnn_session_op_info(session, i, &info));
        snprintf(member, sizeof member, "{\"type\":\"%s\",\"name\":\"%s\",\"backend\":\"cpu\"", info.type_name,
                 info.name);
        assert_non_null(strstr(planned, member));
    }
    free(text);
    free(planned);
    needed = UNTOUCHED_SIZE;
    assert_fails(mnn_interpreter_report(net, "plan", NULL, 0, &needed), MNN_ERROR_NOT_FOUND);
    const int32_t dims[] = {2, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, first_input(session), dims, 4));
    assert_fails(mnn_session_report(session, "graph", NULL, 0, &needed), MNN_ERROR_BAD_STATE);
    assert_int_equal(needed, UNTOUCHED_SIZE);
    assert_ok(mnn_session_destroy(&session));
}

static void misuse(void** state) {
    (void)state;
    mnn_session_t* session = make_session(0);
    char text[4] = "abc";
    size_t needed = UNTOUCHED_SIZE;
    assert_fails(mnn_session_report(session, "plan", text, sizeof text, &needed), MNN_ERROR_BAD_STATE);
    assert_fails(mnn_session_report(session, "plan after:fuse-post-ops", text, sizeof text, &needed),
                 MNN_ERROR_BAD_STATE);
    assert_fails(mnn_session_report(session, "plan after:nothing", text, sizeof text, &needed), MNN_ERROR_NOT_FOUND);
    assert_fails(mnn_session_report(session, "", text, sizeof text, &needed), MNN_ERROR_NOT_FOUND);
    assert_fails(mnn_session_report(session, NULL, text, sizeof text, &needed), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_report(session, "passes", text, sizeof text, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_report(NULL, "passes", text, sizeof text, &needed), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_session_report(session, "passes", NULL, 1, &needed), MNN_ERROR_NULL_ARGUMENT);
    assert_int_equal(needed, UNTOUCHED_SIZE);
    assert_fails(mnn_session_report(session, "passes", text, sizeof text, &needed), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_true(needed > sizeof text && needed != UNTOUCHED_SIZE);
    assert_string_equal(text, "abc");
    assert_ok(mnn_session_destroy(&session));
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.record_plan = 3;
    assert_fails(mnn_session_create(net, &config, &session), MNN_ERROR_INVALID_VALUE);
    config.record_plan = 0;
    config.keep_subnormals = 2;
    assert_fails(mnn_session_create(net, &config, &session), MNN_ERROR_INVALID_VALUE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans),    cmocka_unit_test(algorithms), cmocka_unit_test(candidates),
        cmocka_unit_test(measured), cmocka_unit_test(graphs),     cmocka_unit_test(misuse),
    };
    return cmocka_run_group_tests_name("report", tests, open_net, close_net);
}
