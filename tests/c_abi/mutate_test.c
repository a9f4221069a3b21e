/* Broken models: every mutant of a model's bytes gives a result or a code with a sentence, and ends.
 *
 *     mutate_test [model.mnn [count [first seed]]]
 *
 * A mutant that crashes or hangs ends the test with its seed; `mutate_test model 1 seed` repeats it alone. */
#include "support.h"

#include <signal.h>
#include <unistd.h>

enum { SECONDS_PER_MUTANT = 20 };

static const char* model_path = MNN_C_DIGITS_MODEL;
static unsigned long mutant_count = 1000;
static unsigned long first_seed = 1;
static unsigned long run_to_the_end, refused;
static unsigned char* model;
static size_t model_size;
static char now[64];

static uint64_t next_random(uint64_t* state) { /* splitmix64 */
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t below(uint64_t* state, size_t limit) {
    return limit ? (size_t)(next_random(state) % limit) : 0;
}

/* Damage has the most effect in the tables, which lie at both ends of the file; the weights between are large. */
static size_t position(uint64_t* state, size_t size) {
    const size_t part = size < 2048 ? size : 2048;
    switch (below(state, 4)) {
        case 0:
            return below(state, size);
        case 1:
            return size - 1 - below(state, part);
        default:
            return below(state, part);
    }
}

static void put(unsigned char* bytes, size_t size, size_t at, const void* value, size_t width) {
    if (at + width <= size) memcpy(bytes + at, value, width);
}

static size_t mutate(unsigned char* bytes, size_t size, uint64_t* state) {
    static const int64_t extremes[] = {0,         1,         -1,        2,          7,           127,   128,
                                       255,       256,       32767,     32768,      65535,       65536, 1000000,
                                       INT32_MAX, INT32_MIN, 1 << 28,   0x7ffffffe, 0x40000000,  -2,    -4,
                                       INT64_MAX, INT64_MIN, 1LL << 32, 1LL << 40,  -(1LL << 33)};
    const size_t changes = 1 + below(state, 4);
    for (size_t i = 0; i < changes && size > 8; ++i) switch (below(state, 5)) {
            case 0:
                if (below(state, 3) == 0) size = 1 + below(state, size); /* a truncation */
                break;
            case 1:
                for (size_t k = 1 + below(state, 8); k > 0; --k)
                    bytes[position(state, size)] ^= (unsigned char)(1u << below(state, 8));
                break;
            case 2: { /* an extreme integer at an aligned position */
                const int64_t wide = extremes[below(state, sizeof extremes / sizeof *extremes)];
                const int32_t narrow = (int32_t)(uint32_t)(uint64_t)wide;
                const int16_t tiny = (int16_t)(uint16_t)(uint64_t)wide;
                const size_t at = position(state, size);
                const size_t choice = below(state, 6);
                if (choice == 0)
                    put(bytes, size, at & ~(size_t)7, &wide, 8);
                else if (choice == 1)
                    put(bytes, size, at & ~(size_t)1, &tiny, 2);
                else
                    put(bytes, size, at & ~(size_t)3, &narrow, 4);
                break;
            }
            case 3: { /* a small change of a present integer */
                const size_t at = position(state, size) & ~(size_t)3;
                uint32_t value = 0;
                if (at + 4 > size) break;
                memcpy(&value, bytes + at, 4);
                value += (uint32_t)below(state, 17) - 8;
                memcpy(bytes + at, &value, 4);
                break;
            }
            default: { /* a block copied elsewhere */
                const size_t length = 1 + below(state, 64);
                const size_t from = position(state, size) & ~(size_t)3, to = position(state, size) & ~(size_t)3;
                if (from + length <= size && to + length <= size) memmove(bytes + to, bytes + from, length);
            }
        }
    return size;
}

/* It does only what a signal handler may do. */
static void on_signal(int number) {
    const char* what = number == SIGALRM ? "mutate_test: this mutant does not end: " : "mutate_test: crash: ";
    (void)!write(STDERR_FILENO, what, strlen(what));
    (void)!write(STDERR_FILENO, now, strlen(now));
    (void)!write(STDERR_FILENO, "\n", 1);
    if (number == SIGALRM) _exit(1);
    signal(number, SIG_DFL);
    raise(number);
}

/* Expects a code and a sentence; anything else fails the test. */
static bool fine(mnn_status status, const char* call) {
    if (status == MNN_OK) return true;
    if (strcmp(mnn_status_name(status), "unknown status") == 0 || mnn_last_error()[0] == '\0' ||
        status == MNN_ERROR_INTERNAL || status == MNN_ERROR_OUT_OF_MEMORY)
        fail_msg("%s: %s gives %d (%s): '%s'", now, call, (int)status, mnn_status_name(status), mnn_last_error());
    return false;
}

static bool use_session(mnn_session_t* session) {
    size_t count = 0;
    bool needed = false;
    if (!fine(mnn_session_needs_resize(session, &needed), "needs_resize")) return false;
    if (!fine(mnn_session_input_count(session, &count), "input_count")) return false;
    if (needed) { /* open extents become 2 */
        for (size_t i = 0; i < count; ++i) {
            mnn_tensor_t* input = NULL;
            int32_t dims[MNN_MAX_RANK];
            size_t rank = 0;
            if (!fine(mnn_session_input_at(session, i, &input), "input_at") ||
                !fine(mnn_tensor_shape(input, dims, MNN_MAX_RANK, &rank), "shape"))
                return false;
            for (size_t k = 0; k < rank; ++k)
                if (dims[k] < 0) dims[k] = 2;
            if (!fine(mnn_session_resize_input(session, input, dims, rank), "resize_input")) return false;
        }
        if (!fine(mnn_session_resize(session), "resize")) return false;
    }
    for (size_t i = 0; i < count; ++i) {
        mnn_tensor_t* input = NULL;
        size_t bytes = 0;
        if (!fine(mnn_session_input_at(session, i, &input), "input_at") ||
            !fine(mnn_tensor_byte_size(input, MNN_FORMAT_NCHW, &bytes), "byte_size"))
            return false;
        unsigned char* zeros = calloc(bytes + 1, 1);
        assert_non_null(zeros);
        const mnn_status status = mnn_tensor_write(input, zeros, bytes, MNN_FORMAT_NCHW);
        free(zeros);
        if (!fine(status, "write")) return false;
    }
    if (!fine(mnn_session_run(session), "run")) return false;
    if (!fine(mnn_session_output_count(session, &count), "output_count")) return false;
    for (size_t i = 0; i < count; ++i) {
        mnn_tensor_t* output = NULL;
        size_t bytes = 0;
        if (!fine(mnn_session_output_at(session, i, &output), "output_at") ||
            !fine(mnn_tensor_byte_size(output, MNN_FORMAT_NC4HW4, &bytes), "byte_size"))
            return false;
        void* values = malloc(bytes + 1);
        assert_non_null(values);
        const mnn_status status = mnn_tensor_read(output, values, bytes, MNN_FORMAT_NC4HW4);
        free(values);
        if (!fine(status, "read")) return false;
    }
    return true;
}

/* Reads all information about a model that loaded. */
static void ask_interpreter(const mnn_interpreter_t* net) {
    size_t count = 0;
    const char* text = NULL;
    uint64_t parameters = 0;
    fine(mnn_interpreter_uuid(net, &text), "uuid");
    fine(mnn_interpreter_model_version(net, &text), "model_version");
    fine(mnn_interpreter_biz_code(net, &text), "biz_code");
    fine(mnn_interpreter_parameter_count(net, &parameters), "parameter_count");
    if (fine(mnn_interpreter_input_count(net, &count), "input_count"))
        for (size_t i = 0; i < count; ++i) {
            mnn_declaration_t info = {.struct_size = sizeof info};
            if (fine(mnn_interpreter_input_info(net, i, &info), "input_info"))
                assert_true(strlen(info.name) <= model_size);
        }
    if (fine(mnn_interpreter_output_count(net, &count), "output_count"))
        for (size_t i = 0; i < count; ++i) {
            mnn_declaration_t info = {.struct_size = sizeof info};
            fine(mnn_interpreter_output_name(net, i, &text), "output_name");
            if (fine(mnn_interpreter_output_info(net, i, &info), "output_info"))
                assert_true(info.rank >= -1 && info.rank <= MNN_MAX_RANK);
        }
    if (fine(mnn_interpreter_op_count(net, &count), "op_count"))
        for (size_t i = 0; i < count; ++i) {
            bool supported = false;
            fine(mnn_interpreter_op_name(net, i, &text), "op_name");
            fine(mnn_interpreter_op_type(net, i, &text), "op_type");
            fine(mnn_interpreter_op_supported(net, i, &supported), "op_supported");
        }
}

static bool use_mutant(const unsigned char* bytes, size_t size, bool borrow) {
    mnn_interpreter_options_t options;
    mnn_schedule_config_t config;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    options.load_mode = borrow ? MNN_LOAD_BORROW : MNN_LOAD_COPY;
    config.max_memory_bytes = 64u << 20;
    config.max_loop_iterations = 100;
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    if (!fine(mnn_interpreter_create_from_memory(bytes, size, &options, &net), "create")) {
        assert_null(net);
        return false;
    }
    ask_interpreter(net);
    const bool made = fine(mnn_session_create(net, &config, &session), "session_create");
    const bool ran = made && use_session(session);
    if (made) assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
    return ran;
}

/* Called inside a test, because cmocka installs handlers before each test that do not know the seed. */
static void install_handlers(void) {
    signal(SIGALRM, on_signal);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; ++i) signal(crashes[i], on_signal);
#endif
}

static void the_model_itself_works(void** state) {
    (void)state;
    install_handlers();
    snprintf(now, sizeof now, "the unchanged model");
    alarm(SECONDS_PER_MUTANT * 3);
    const bool works = use_mutant(model, model_size, false);
    alarm(0);
    if (!works) fail_msg("%s: %s", model_path, mnn_last_error());
}

static void mutants(void** state) {
    (void)state;
    install_handlers();
    for (unsigned long i = 0; i < mutant_count; ++i) {
        const unsigned long seed = first_seed + i;
        uint64_t random = seed;
        snprintf(now, sizeof now, "seed %lu", seed);
        unsigned char* work = malloc(model_size);
        assert_non_null(work);
        memcpy(work, model, model_size);
        const size_t size = mutate(work, model_size, &random);
        /* The allocation has exactly that size, so that the address sanitizer detects a read behind it. */
        unsigned char* bytes = malloc(size);
        assert_non_null(bytes);
        memcpy(bytes, work, size);
        free(work);
        alarm(SECONDS_PER_MUTANT);
        if (use_mutant(bytes, size, seed % 2))
            ++run_to_the_end;
        else
            ++refused;
        alarm(0);
        free(bytes);
    }
    print_message("%lu mutants from seed %lu: %lu ran, %lu were refused\n", mutant_count, first_seed, run_to_the_end,
                  refused);
    /* Mutations that never fail, or always, test nothing. */
    if (mutant_count >= 100) assert_true(refused > 0 && run_to_the_end > 0);
}

int main(int argc, char** argv) {
    if (argc > 1) model_path = argv[1];
    if (argc > 2) mutant_count = strtoul(argv[2], NULL, 10);
    if (argc > 3) first_seed = strtoul(argv[3], NULL, 10);
    model = read_whole_file(model_path, &model_size);
    if (!model) return 2;
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_model_itself_works), cmocka_unit_test(mutants)};
    const int failed = cmocka_run_group_tests_name("mutate", tests, NULL, NULL);
    free(model);
    return failed;
}
