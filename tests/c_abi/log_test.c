/* The messages of each log level, the backend of a session that falls back, and the finalizer of the log. */
#include "support.h"

#include <unistd.h>

enum { MAX_MESSAGES = 200, LENGTH = 400 };

struct book {
    int count;
    int32_t levels[MAX_MESSAGES];
    char messages[MAX_MESSAGES][LENGTH];
};

static void keep(void* user_data, int32_t level, const char* message) {
    struct book* book = user_data;
    assert_true(level >= MNN_LOG_ERROR && level <= MNN_LOG_DEBUG);
    assert_null(strchr(message, '\n'));
    assert_true(book->count < MAX_MESSAGES);
    book->levels[book->count] = level;
    snprintf(book->messages[book->count++], LENGTH, "%s", message);
}

/* Returns the message of that level with both words in it, or NULL. */
static const char* find(const struct book* book, int32_t level, const char* first, const char* second) {
    for (int i = 0; i < book->count; ++i)
        if (book->levels[i] == level && strstr(book->messages[i], first) && strstr(book->messages[i], second))
            return book->messages[i];
    return NULL;
}

static mnn_interpreter_t* open_logged_file(struct book* book, int32_t level, const char* path) {
    mnn_interpreter_options_t options;
    mnn_interpreter_t* net = NULL;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    options.log_level = level;
    options.log_callback = keep;
    options.log_user_data = book;
    book->count = 0;
    assert_ok(mnn_interpreter_create_from_file(path, &options, &net));
    return net;
}

static mnn_interpreter_t* open_logged(struct book* book, int32_t level) {
    return open_logged_file(book, level, MNN_C_DIGITS_MODEL);
}

struct recursive {
    mnn_interpreter_t* net;
    int calls;
    mnn_status created;
};

static void create_one(void* user_data, int32_t level, const char* message) {
    (void)level, (void)message;
    struct recursive* mine = user_data;
    ++mine->calls;
    mnn_session_t* session = NULL;
    if (!mine->net) return;
    mine->created = mnn_session_create(mine->net, NULL, &session);
    if (session) assert_ok(mnn_session_destroy(&session));
}

/* A callback that uses the object of its message does not call itself. */
static void a_callback_that_creates_sessions(void** state) {
    (void)state;
    struct recursive mine = {NULL, 0, -1};
    mnn_interpreter_options_t options;
    mnn_session_t* session = NULL;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    options.log_level = MNN_LOG_DEBUG;
    options.log_callback = create_one;
    options.log_user_data = &mine;
    assert_ok(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &options, &mine.net));
    mine.calls = 0;
    assert_ok(mnn_session_create(mine.net, NULL, &session));
    assert_in_range(mine.calls, 1, 20);
    assert_int_equal(mine.created, MNN_OK);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&mine.net));
}

/* Requests a GPU that does not exist, so that every build and machine falls back. */
static mnn_schedule_config_t config_of_no_device(void) {
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.forward_type = MNN_FORWARD_VULKAN;
    config.device = "no such device";
    return config;
}

static void levels(void** state) {
    (void)state;
    static struct book book;
    for (int32_t level = MNN_LOG_DEFAULT; level <= MNN_LOG_DEBUG; ++level) {
        mnn_interpreter_t* net = open_logged(&book, level);
        mnn_session_t* session = open_session(net);
        const int32_t dims[] = {2, 1, 8, 8};
        const bool info = level >= MNN_LOG_INFO, debug = level >= MNN_LOG_DEBUG;
        assert_int_equal(find(&book, MNN_LOG_INFO, "digits.mnn", " ms") != NULL, info);
        assert_int_equal(find(&book, MNN_LOG_INFO, "session on backend 'cpu'", " ms") != NULL, info);
        assert_int_equal(find(&book, MNN_LOG_DEBUG, "plan of", " ms") != NULL, debug);
        book.count = 0;
        assert_ok(mnn_session_resize_input(session, first_input(session), dims, 4));
        assert_ok(mnn_session_resize(session));
        assert_int_equal(find(&book, MNN_LOG_DEBUG, "plan of", " ms") != NULL, debug);
        assert_ok(mnn_session_destroy(&session));
        assert_ok(mnn_interpreter_destroy(&net));
        for (int i = 0; i < book.count; ++i)
            assert_true(book.levels[i] <= (level == MNN_LOG_DEFAULT ? MNN_LOG_WARNING : level));
    }
}

static void a_fallback_is_said(void** state) {
    (void)state;
    static struct book book;
    mnn_interpreter_t* net = open_logged(&book, MNN_LOG_INFO);
    mnn_schedule_config_t config = config_of_no_device();
    mnn_session_t* session = UNTOUCHED_POINTER;
    assert_fails(mnn_session_create(net, &config, &session), MNN_ERROR_BACKEND_MISSING);
    assert_ptr_equal(session, UNTOUCHED_POINTER);
    config.allow_fallback = 1;
    assert_ok(mnn_session_create(net, &config, &session));
    int said = 0;
    for (int i = 0; i < book.count; ++i)
        said += book.levels[i] == MNN_LOG_INFO && strstr(book.messages[i], "instead of the wanted one") != NULL;
    assert_int_equal(said, 1);
    assert_int_equal(session_info_of(session).forward_type, MNN_FORWARD_CPU);
    const char* reason = session_info_of(session).reason;
    assert_non_null(reason);
    size_t count = 0;
    assert_ok(mnn_session_op_count(session, &count));
    assert_true(count > 0);
    for (size_t i = 0; i < count; ++i) {
        mnn_op_info_t op = {.struct_size = sizeof op};
        assert_ok(mnn_session_op_info(session, i, &op));
        assert_string_equal(op.backend_name, "cpu");
        assert_string_equal(op.reason, reason);
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
}

static int count_of(const struct book* book, int32_t level, const char* first, const char* second) {
    int count = 0;
    for (int i = 0; i < book->count; ++i)
        count += book->levels[i] == level && strstr(book->messages[i], first) != NULL &&
                 strstr(book->messages[i], second) != NULL;
    return count;
}

/* Each path that falls back has a line in the log of the interpreter and in that of its runtime. */
static void fallbacks_of_paths(void** state) {
    (void)state;
    static struct book book, of_runtime;
    mnn_interpreter_t* net = open_logged(&book, MNN_LOG_INFO);
    mnn_runtime_config_t settings;
    mnn_runtime_t* runtime = NULL;
    assert_ok(mnn_runtime_config_init(&settings, sizeof settings));
    settings.log_level = MNN_LOG_INFO;
    settings.log_callback = keep;
    settings.log_user_data = &of_runtime;
    assert_ok(mnn_runtime_create(&settings, &runtime));
    of_runtime.count = 0;
    static const char* const cuts[] = {"r1", "m"};
    mnn_schedule_config_t configs[] = {config_of_no_device(), config_of_no_device(), config_of_no_device()};
    for (size_t i = 0; i < 3; ++i) {
        configs[i].runtime = runtime;
        configs[i].allow_fallback = 1;
        configs[i].outputs = i < 2 ? &cuts[i] : NULL;
        configs[i].output_count = i < 2;
    }
    configs[1].forward_type = MNN_FORWARD_CPU; /* which does not fall back */
    configs[1].device = NULL;
    mnn_session_t* session = NULL;
    assert_ok(mnn_session_create_paths(net, configs, 3, &session));
    const struct book* books[] = {&book, &of_runtime};
    for (size_t i = 0; i < 2; ++i) {
        assert_int_equal(count_of(books[i], MNN_LOG_INFO, "instead of the wanted one: ", ""), 2);
        assert_int_equal(count_of(books[i], MNN_LOG_INFO, "path 0 runs on backend 'cpu' instead", ""), 1);
        assert_int_equal(count_of(books[i], MNN_LOG_INFO, "path 2 runs on backend 'cpu' instead", ""), 1);
    }
    assert_non_null(find(&book, MNN_LOG_INFO, "session on backends 'cpu', 'cpu', 'cpu' created", " ms"));
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
    assert_ok(mnn_runtime_destroy(&runtime));
}

/* Sets the only input of the net: the first `ones` elements are 1, the others 0. */
static void mark_elements(mnn_session_t* session, size_t ones) {
    mnn_tensor_t* input = first_input(session);
    double values[256] = {0};
    size_t elements = 0;
    assert_ok(mnn_tensor_element_count(input, &elements));
    assert_in_range(elements, ones, 256);
    for (size_t i = 0; i < ones; ++i) values[i] = 1;
    assert_ok(mnn_tensor_write_as(input, values, elements * sizeof *values, MNN_TYPE_DOUBLE, MNN_FORMAT_NCHW));
}

/* Plans that a run makes, because shapes depend on contents, are logged when that run ends, and not again for shapes
 * that stay. An operator has a line when the plan decides its backend, not before and not for each further plan. */
static void plans_of_runs(void** state) {
    (void)state;
    static struct book book;
    mnn_interpreter_t* net =
        open_logged_file(&book, MNN_LOG_DEBUG, MNN_C_CASES_FOLDER "/onnx__nonzero_example/model.mnn");
    mnn_schedule_config_t config = config_of_no_device();
    mnn_session_t* session = NULL;
    config.allow_fallback = 1;
    assert_ok(mnn_session_create(net, &config, &session));
    assert_int_equal(count_of(&book, MNN_LOG_DEBUG, "operator '", " runs on backend ''"), 0);
    const int before = count_of(&book, MNN_LOG_DEBUG, "operator '", " runs on backend 'cpu'");
    size_t operators = 0;
    assert_ok(mnn_session_op_count(session, &operators));
    const size_t ones[] = {2, 2, 3};
    for (int run = 0; run < 3; ++run) {
        book.count = 0;
        mark_elements(session, ones[run]);
        if (run == 2) {
            assert_ok(mnn_session_submit(session, NULL));
            assert_ok(mnn_session_wait(session, -1));
        } else {
            assert_ok(mnn_session_run(session));
        }
        const int plans = count_of(&book, MNN_LOG_DEBUG, "a run made 1 plan of stages", "");
        const int lines = count_of(&book, MNN_LOG_DEBUG, "operator '", " runs on backend 'cpu'");
        assert_int_equal(plans, run != 1);
        assert_int_equal(book.count, plans + lines);
        if (run == 0)
            assert_true(lines > 0 && (size_t)(before + lines) == operators);
        else
            assert_int_equal(lines, 0);
    }
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
    /* A quieter log does not have these lines. */
    net = open_logged_file(&book, MNN_LOG_INFO, MNN_C_CASES_FOLDER "/onnx__nonzero_example/model.mnn");
    assert_ok(mnn_session_create(net, &config, &session));
    book.count = 0;
    mark_elements(session, 1);
    assert_ok(mnn_session_run(session));
    assert_int_equal(book.count, 0);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
}

/* With the requested backend there is nothing to explain. */
static void no_fallback(void** state) {
    (void)state;
    static struct book book;
    mnn_interpreter_t* net = open_logged(&book, MNN_LOG_INFO);
    mnn_session_t* session = open_session(net);
    mnn_session_properties_t setup = session_info_of(session);
    assert_int_equal(setup.forward_type, MNN_FORWARD_CPU);
    assert_null(setup.reason);
    assert_null(find(&book, MNN_LOG_INFO, "instead of", ""));
    assert_ok(mnn_session_destroy(&session));
    /* AUTO uses the CPU where there is no GPU, and says why none was used. */
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.forward_type = MNN_FORWARD_AUTO;
    assert_ok(mnn_session_create(net, &config, &session));
    size_t backends = 0;
    assert_ok(mnn_backend_count(&backends));
    setup = session_info_of(session);
    if (setup.forward_type == MNN_FORWARD_CPU && backends > 1)
        assert_non_null(strstr(setup.reason, "vulkan"));
    else
        assert_null(setup.reason);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
}

/* On a GPU: whether the cache was accepted, and a file that cannot be written. */
static void caches(void** state) {
    (void)state;
    static struct book book;
    mnn_interpreter_t* net = open_logged(&book, MNN_LOG_INFO);
    mnn_schedule_config_t config;
    mnn_session_t* session = NULL;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.forward_type = MNN_FORWARD_VULKAN;
    assert_ok(mnn_interpreter_set_cache(net, "not a cache", 11));
    assert_ok(mnn_interpreter_set_cache_file(net, "/nonexistent/folder/cache"));
    const mnn_status status = mnn_session_create(net, &config, &session);
    if (status == MNN_ERROR_BACKEND_MISSING) {
        assert_ok(mnn_interpreter_destroy(&net));
        skip();
    }
    assert_ok(status);
    assert_non_null(find(&book, MNN_LOG_INFO, "cache", "rejected"));
    assert_non_null(find(&book, MNN_LOG_WARNING, "/nonexistent/folder/cache", ""));
    assert_fails(mnn_interpreter_update_cache_file(net, session), MNN_ERROR_FILE_OPEN_FAILED);
    assert_ok(mnn_session_destroy(&session));
    char path[] = "/tmp/mnn_c_cache_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_ok(mnn_interpreter_set_cache_file(net, path));
    assert_ok(mnn_session_create(net, &config, &session));
    assert_non_null(find(&book, MNN_LOG_INFO, "cache file", path));
    assert_ok(mnn_session_destroy(&session));
    book.count = 0;
    assert_ok(mnn_interpreter_set_cache(net, NULL, 0));
    assert_ok(mnn_session_create(net, &config, &session));
    assert_non_null(find(&book, MNN_LOG_INFO, "cache", "accepted"));
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
    unlink(path);
}

struct log_book {
    int finalized, after_the_end, bad;
};

static void on_message(void* user_data, int32_t level, const char* message) {
    struct log_book* book = user_data;
    book->after_the_end += book->finalized;
    book->bad += level < MNN_LOG_ERROR || level > MNN_LOG_DEBUG || !message || strchr(message, '\n') != NULL;
}

static void on_final(void* user_data) {
    ++((struct log_book*)user_data)->finalized;
}

/* The finalizer is called once, after every message, when the last handle is destroyed. */
static void finalizer_comes_last(void** state) {
    (void)state;
    for (int keep_session = 0; keep_session < 2; ++keep_session) {
        struct log_book book = {0};
        mnn_interpreter_options_t options;
        assert_ok(mnn_interpreter_options_init(&options, sizeof options));
        options.log_level = MNN_LOG_DEBUG;
        options.log_callback = on_message;
        options.log_user_data = &book;
        options.log_finalizer = on_final;
        mnn_interpreter_t* net = NULL;
        assert_ok(mnn_interpreter_create_from_file(MNN_C_DIGITS_MODEL, &options, &net));
        mnn_session_t* session = open_session(net);
        float pixels[PIXELS] = {0}, scores[CLASSES];
        classify(session, pixels, 1, scores);
        assert_int_equal(book.finalized, 0);
        if (keep_session) {
            assert_ok(mnn_interpreter_destroy(&net));
            assert_int_equal(book.finalized, 0);
            classify(session, pixels, 1, scores);
            assert_ok(mnn_session_destroy(&session));
        } else {
            assert_ok(mnn_session_destroy(&session));
            assert_int_equal(book.finalized, 0);
            assert_ok(mnn_interpreter_destroy(&net));
        }
        assert_int_equal(book.finalized, 1);
        assert_int_equal(book.after_the_end, 0);
        assert_int_equal(book.bad, 0);
    }
}

/* A finalizer works without a callback, and is not called when the creation fails. */
static void finalizer_alone(void** state) {
    (void)state;
    struct log_book book = {0};
    size_t model_size = 0;
    unsigned char* model = read_whole_file(MNN_C_DIGITS_MODEL, &model_size);
    assert_non_null(model);
    mnn_interpreter_options_t options;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    options.log_user_data = &book;
    options.log_finalizer = on_final;
    mnn_interpreter_t* net = NULL;
    assert_fails(mnn_interpreter_create_from_file("no-such-file.mnn", &options, &net), MNN_ERROR_FILE_NOT_EXIST);
    assert_fails(mnn_interpreter_create_from_memory(model, 100, &options, &net), MNN_ERROR_TRUNCATED);
    options.load_mode = 77;
    assert_fails(mnn_interpreter_create_from_memory(model, model_size, &options, &net), MNN_ERROR_INVALID_VALUE);
    options.load_mode = MNN_LOAD_DEFAULT;
    assert_int_equal(book.finalized, 0);
    assert_ok(mnn_interpreter_create_from_memory(model, model_size, &options, &net));
    assert_int_equal(book.finalized, 0);
    assert_ok(mnn_interpreter_destroy(&net));
    assert_int_equal(book.finalized, 1);
    free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),          cmocka_unit_test(a_fallback_is_said),
        cmocka_unit_test(no_fallback),     cmocka_unit_test(a_callback_that_creates_sessions),
        cmocka_unit_test(caches),          cmocka_unit_test(finalizer_comes_last),
        cmocka_unit_test(finalizer_alone), cmocka_unit_test(fallbacks_of_paths),
        cmocka_unit_test(plans_of_runs),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
