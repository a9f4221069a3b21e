/* Paths from source operators to sink operators, over nets/ways: stem = -a, left = 2 stem, side = b b, more = -side,
 * join = left + more, after = join stem, tail = -after, other = |b|; the outputs are tail and other. */
#include "support.h"

enum { ELEMENTS = 4, MAX_NAMES = 4 };

static mnn_interpreter_t* net;
static const float a[ELEMENTS] = {1, -2, 3, 0.5f}, b[ELEMENTS] = {2, 0.25f, -1, 4};

static int open_ways(void** state) {
    (void)state;
    return mnn_interpreter_create_from_file(MNN_C_NETS_FOLDER "/ways.mnn", NULL, &net) == MNN_OK ? 0 : -1;
}

static int close_ways(void** state) {
    (void)state;
    return mnn_interpreter_destroy(&net) == MNN_OK ? 0 : -1;
}

/* Splits names at spaces into a list that is valid until the next call for the same place. */
struct names {
    char text[64];
    const char* list[MAX_NAMES];
    size_t count;
};

static void split(struct names* names, const char* text) {
    snprintf(names->text, sizeof names->text, "%s", text);
    names->count = 0;
    for (char* word = strtok(names->text, " "); word; word = strtok(NULL, " ")) {
        assert_true(names->count < MAX_NAMES);
        names->list[names->count++] = word;
    }
}

struct ways {
    struct names sources, sinks;
};

static mnn_schedule_config_t config_of(struct ways* ways, const char* sources, const char* sinks) {
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    split(&ways->sources, sources);
    split(&ways->sinks, sinks);
    config.source_operators = ways->sources.count ? ways->sources.list : NULL;
    config.source_operator_count = ways->sources.count;
    config.sink_operators = ways->sinks.count ? ways->sinks.list : NULL;
    config.sink_operator_count = ways->sinks.count;
    return config;
}

/* Returns element i of a tensor in the whole net. */
static float value_of(const char* name, size_t i) {
    const float stem = -a[i], side = b[i] * b[i], join = 2 * stem - side;
    const struct {
        const char* name;
        float value;
    } values[] = {{"a", a[i]},
                  {"b", b[i]},
                  {"stem", stem},
                  {"left", 2 * stem},
                  {"side", side},
                  {"more", -side},
                  {"join", join},
                  {"after", join * stem},
                  {"tail", -(join * stem)},
                  {"other", b[i] < 0 ? -b[i] : b[i]}};
    for (size_t k = 0; k < sizeof values / sizeof *values; ++k)
        if (strcmp(values[k].name, name) == 0) return values[k].value;
    fail_msg("there is no tensor '%s'", name);
    return 0;
}

/* Checks that the session has these inputs, with a '-' behind unused ones, and these outputs, in that order; fills the
 * used inputs, and compares the outputs with those of the whole net. */
static void assert_session(mnn_session_t* session, const char* inputs, const char* outputs) {
    char found[128] = "";
    size_t count = 0;
    assert_ok(mnn_session_input_count(session, &count));
    for (size_t i = 0; i < count; ++i) {
        mnn_tensor_t* tensor = NULL;
        const char* name = NULL;
        mnn_tensor_properties_t info = {.struct_size = sizeof info};
        assert_ok(mnn_session_input_at(session, i, &tensor));
        assert_ok(mnn_tensor_name(tensor, &name));
        assert_ok(mnn_tensor_info(tensor, &info));
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s%s", i ? " " : "", name,
                 info.used ? "" : "-");
        float values[ELEMENTS];
        for (size_t k = 0; k < ELEMENTS; ++k) values[k] = info.used ? value_of(name, k) : -77;
        if (info.used) assert_ok(mnn_tensor_write(tensor, values, sizeof values, MNN_FORMAT_NCHW));
    }
    assert_string_equal(found, inputs);
    assert_ok(mnn_session_run(session));
    found[0] = '\0';
    assert_ok(mnn_session_output_count(session, &count));
    for (size_t i = 0; i < count; ++i) {
        mnn_tensor_t* tensor = NULL;
        const char* name = NULL;
        float values[ELEMENTS];
        assert_ok(mnn_session_output_at(session, i, &tensor));
        assert_ok(mnn_tensor_name(tensor, &name));
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", i ? " " : "", name);
        assert_ok(mnn_tensor_read(tensor, values, sizeof values, MNN_FORMAT_NCHW));
        for (size_t k = 0; k < ELEMENTS; ++k) assert_true(values[k] == value_of(name, k));
    }
    assert_string_equal(found, outputs);
}

static void from_sources_to_sinks(void** state) {
    (void)state;
    const struct {
        const char *sources, *sinks, *inputs, *outputs;
    } cases[] = {
        /* A side branch is followed to the model's input. */
        {"stem", "join", "a b", "join"},
        /* A tensor that a source reads becomes an input, also for the skip around the source. */
        {"left", "after", "stem a- b", "after"},
        {"left more", "join", "stem side a- b-", "join"},
        {"left more", "tail", "stem side a- b-", "tail"},
        /* A source that depends on another source is an operator like the others. */
        {"stem after", "tail", "a b", "tail"},
        {"left after", "tail", "stem a- b", "tail"},
        /* One operator is both source and sink. */
        {"after", "after", "join stem a- b-", "after"},
        /* One sink lies on the way to another. */
        {"stem", "after left", "a b", "left after"},
        /* Only sinks, only sources: the rest is the model's inputs and outputs. */
        {"", "join", "a b", "join"},
        {"", "side", "a- b", "side"},
        {"", "other left", "a b", "left other"},
        {"more", "", "side a b-", "tail"},
        {"after other", "", "join stem b a-", "tail other"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct ways ways;
        const mnn_schedule_config_t config = config_of(&ways, cases[i].sources, cases[i].sinks);
        mnn_session_t* session = NULL;
        print_message("from '%s' to '%s'\n", cases[i].sources, cases[i].sinks);
        assert_ok(mnn_session_create(net, &config, &session));
        assert_session(session, cases[i].inputs, cases[i].outputs);
        assert_ok(mnn_session_destroy(&session));
    }
}

static void saved_tensors(void** state) {
    (void)state;
    struct ways ways;
    mnn_schedule_config_t config = config_of(&ways, "left", "join");
    mnn_session_t* session = NULL;
    static const char* const saved[] = {"more", "stem"};
    config.save_tensors = saved;
    config.save_tensor_count = 2;
    assert_ok(mnn_session_create(net, &config, &session));
    assert_session(session, "stem a- b", "join more stem");
    assert_ok(mnn_session_destroy(&session));
}

static void in_paths(void** state) {
    (void)state;
    struct ways ways[2];
    mnn_session_t* session = NULL;
    mnn_schedule_config_t configs[] = {config_of(&ways[0], "", "join"), config_of(&ways[1], "after", "tail")};
    assert_ok(mnn_session_create_paths(net, configs, 2, &session));
    assert_session(session, "a b", "join tail");
    assert_ok(mnn_session_destroy(&session));
    configs[1] = config_of(&ways[1], "left", "tail");
    session = UNTOUCHED_POINTER;
    assert_fails(mnn_session_create_paths(net, configs, 2, &session), MNN_ERROR_INVALID_VALUE);
    assert_ptr_equal(session, UNTOUCHED_POINTER);
    assert_non_null(strstr(mnn_last_error(), "path 1: operator 'left' is in an earlier path"));
}

static void assert_refused(const mnn_schedule_config_t* config, mnn_status status, const char* words) {
    mnn_session_t* session = UNTOUCHED_POINTER;
    assert_fails(mnn_session_create(net, config, &session), status);
    assert_ptr_equal(session, UNTOUCHED_POINTER);
    if (!strstr(mnn_last_error(), words)) fail_msg("'%s' is not in: %s", words, mnn_last_error());
}

static void wrong_ends(void** state) {
    (void)state;
    const struct {
        const char *sources, *sinks;
        mnn_status status;
        const char* words;
    } cases[] = {
        {"absent", "join", MNN_ERROR_NOT_FOUND, "'absent'"},
        {"stem", "join absent", MNN_ERROR_NOT_FOUND, "'absent'"},
        {"tail", "join", MNN_ERROR_INVALID_VALUE, "no source operator leads to sink operator 'join'"},
        {"stem", "join other", MNN_ERROR_INVALID_VALUE, "no source operator leads to sink operator 'other'"},
        {"left other", "join", MNN_ERROR_INVALID_VALUE, "source operator 'other' leads to no sink operator"},
        {"a", "join", MNN_ERROR_INVALID_VALUE, "source operator 'a' computes nothing"},
        {"stem", "two", MNN_ERROR_INVALID_VALUE, "sink operator 'two' computes nothing"},
    };
    struct ways ways;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const mnn_schedule_config_t config = config_of(&ways, cases[i].sources, cases[i].sinks);
        assert_refused(&config, cases[i].status, cases[i].words);
    }
    static const char* const names[] = {"left", NULL};
    for (int i = 0; i < 3; ++i) {
        mnn_schedule_config_t config = config_of(&ways, i == 1 ? "" : "stem", i == 2 ? "" : "join");
        config.inputs = config.outputs = config.operators = names;
        config.input_count = i == 0;
        config.output_count = i == 1;
        config.operator_count = i == 2;
        assert_refused(&config, MNN_ERROR_INVALID_VALUE, "no inputs, outputs or operators by name");
    }
    mnn_schedule_config_t config = config_of(&ways, "", "");
    config.source_operators = names;
    config.source_operator_count = 2;
    assert_refused(&config, MNN_ERROR_NULL_ARGUMENT, "source_operators[1]");
    config = config_of(&ways, "", "");
    config.sink_operator_count = 1;
    assert_refused(&config, MNN_ERROR_NULL_ARGUMENT, "sink_operators");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_sources_to_sinks),
        cmocka_unit_test(saved_tensors),
        cmocka_unit_test(in_paths),
        cmocka_unit_test(wrong_ends),
    };
    return cmocka_run_group_tests_name("ways", tests, open_ways, close_ways);
}
