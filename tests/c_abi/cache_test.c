/* The reason why a cache is refused, as the log states it, and the moments when its file is written again. On a Vulkan
 * device; skipped (exit code 77) where there is none. */
#include <unistd.h>

#include "digits_net.h"

enum {
    SKIPPED = 77,
    LENGTH = 400,
    /* Places in a cache: first the mark of the model (name and version, key, checksum), then the device's header, which
     * begins with a name and the vendor. */
    VERSION = 7,
    KEY = 8,
    CHECKSUM = 16,
    MARK = 24,
    VENDOR = MARK + 8
};

#define OTHER_MODEL "another model, precision or memory mode"
#define OTHER_DEVICE "another device, driver or version"
#define DAMAGED "damaged"
#define ACCEPTED "accepted"

static char said[LENGTH]; /* the last message about the cache that was given */

static void keep(void* user_data, int32_t level, const char* message) {
    (void)user_data;
    if (level == MNN_LOG_INFO && strstr(message, "the cache of")) snprintf(said, LENGTH, "%s", message);
}

static mnn_interpreter_t* open_logged(const char* path) {
    mnn_interpreter_options_t options;
    mnn_interpreter_t* made = NULL;
    assert_ok(mnn_interpreter_options_init(&options, sizeof options));
    options.log_level = MNN_LOG_INFO;
    options.log_callback = keep;
    assert_ok(mnn_interpreter_create_from_file(path, &options, &made));
    return made;
}

static mnn_session_t* on_vulkan(mnn_interpreter_t* model, int32_t gpu_mode, int32_t precision) {
    mnn_schedule_config_t config = default_config();
    mnn_session_t* session = NULL;
    config.forward_type = MNN_FORWARD_VULKAN;
    config.gpu_mode = gpu_mode;
    config.precision = precision;
    said[0] = '\0';
    assert_ok(mnn_session_create(model, &config, &session));
    return session;
}

static unsigned char* cache_of(const mnn_session_t* session, size_t* size) {
    assert_ok(mnn_session_cache(session, NULL, 0, size));
    unsigned char* bytes = malloc(*size);
    assert_non_null(bytes);
    assert_ok(mnn_session_cache(session, bytes, *size, size));
    assert_true(*size > VENDOR + 4);
    return bytes;
}

/* A session that is given these bytes logs this sentence about them, and accepts them only without one. */
static void assert_said(mnn_interpreter_t* model, const unsigned char* bytes, size_t size, int32_t precision,
                        const char* wanted) {
    assert_ok(mnn_interpreter_set_cache(model, bytes, size));
    mnn_session_t* session = on_vulkan(model, 0, precision);
    bool accepted = false;
    assert_ok(mnn_session_cache_accepted(session, &accepted));
    assert_int_equal(accepted, strcmp(wanted, ACCEPTED) == 0);
    if (!strstr(said, wanted)) fail_msg("\"%s\" does not say \"%s\"", said, wanted);
    assert_ok(mnn_session_destroy(&session));
}

static uint64_t hash(uint64_t from, const unsigned char* bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) from = (from ^ bytes[i]) * 1099511628211u;
    return from;
}

static void the_reason_is_said(void** state) {
    (void)state;
    mnn_interpreter_t* digits = open_logged(MNN_C_DIGITS_MODEL);
    mnn_interpreter_t* other = open_logged(MNN_C_CASES_FOLDER "/softmax__axes/model.mnn");
    mnn_session_t* session = on_vulkan(digits, 0, MNN_PRECISION_NORMAL);
    assert_string_equal(said, ""); /* no cache was given */
    size_t size = 0;
    unsigned char* bytes = cache_of(session, &size);
    assert_ok(mnn_session_destroy(&session));

    assert_said(digits, bytes, size, MNN_PRECISION_NORMAL, ACCEPTED);
    assert_said(other, bytes, size, MNN_PRECISION_NORMAL, OTHER_MODEL);
    assert_said(digits, bytes, size, MNN_PRECISION_LOW, OTHER_MODEL);
    assert_said(digits, (const unsigned char*)"not a cache", 11, MNN_PRECISION_NORMAL, DAMAGED);
    const size_t lengths[] = {1, MARK - 1, MARK, MARK + 1, size / 2, size - 1};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i)
        assert_said(digits, bytes, lengths[i], MNN_PRECISION_NORMAL, DAMAGED);
    const size_t places[] = {0, KEY, CHECKSUM, MARK, VENDOR, size / 2, size - 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
        bytes[places[i]] ^= 1;
        assert_said(digits, bytes, size, MNN_PRECISION_NORMAL, DAMAGED);
        bytes[places[i]] ^= 1;
    }
    bytes[VERSION] ^= 1;
    assert_said(digits, bytes, size, MNN_PRECISION_NORMAL, OTHER_DEVICE);
    bytes[VERSION] ^= 1;

    /* Complete, but written on the device of another vendor. */
    bytes[VENDOR] ^= 1;
    uint64_t sum = hash(14695981039346656037u, bytes + KEY, 8);
    sum = hash(sum, bytes + MARK, size - MARK);
    memcpy(bytes + CHECKSUM, &sum, sizeof sum);
    assert_said(digits, bytes, size, MNN_PRECISION_NORMAL, OTHER_DEVICE);
    bytes[VENDOR] ^= 1;
    free(bytes);

    /* On the CPU there is no message. */
    mnn_session_t* cpu = NULL;
    said[0] = '\0';
    assert_ok(mnn_session_create(digits, NULL, &cpu));
    assert_string_equal(said, "");
    assert_ok(mnn_session_destroy(&cpu));
    assert_ok(mnn_interpreter_destroy(&other));
    assert_ok(mnn_interpreter_destroy(&digits));
}

static int32_t written(const mnn_session_t* session, int32_t wanted_read) {
    mnn_statistics_t statistics = {.struct_size = sizeof statistics};
    assert_ok(mnn_session_statistics(session, &statistics));
    assert_int_equal(statistics.cache_read, wanted_read);
    return statistics.cache_written;
}

/* A file that was accepted gets new measurements, so that no later session measures the same again. The record of a
 * device is destroyed with its last session, as with a process. */
static void measuring_writes_the_file_again(void** state) {
    (void)state;
    char path[] = "/tmp/mnn_cache_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_ok(mnn_interpreter_set_cache_file(net, path));
    mnn_session_t* session = on_vulkan(net, MNN_GPU_TUNING_NONE, MNN_PRECISION_NORMAL);
    assert_int_equal(written(session, 0), 1);
    assert_ok(mnn_session_destroy(&session));
    session = on_vulkan(net, MNN_GPU_TUNING_NONE, MNN_PRECISION_NORMAL);
    assert_int_equal(written(session, 1), 0);
    assert_ok(mnn_session_destroy(&session));

    session = on_vulkan(net, MNN_GPU_TUNING_FAST, MNN_PRECISION_NORMAL);
    mnn_session_properties_t info = {.struct_size = sizeof info};
    assert_ok(mnn_session_info(session, &info));
    const int measures = (info.gpu_mode & MNN_GPU_TUNING_FAST) != 0; /* only where the device has a clock */
    assert_int_equal(written(session, 1), measures);
    assert_ok(mnn_session_destroy(&session));
    session = on_vulkan(net, MNN_GPU_TUNING_FAST, MNN_PRECISION_NORMAL);
    assert_int_equal(written(session, 1), 0);

    /* A resize measures other shapes. */
    const int32_t batch[] = {5, 1, 8, 8};
    assert_ok(mnn_session_resize_input(session, first_input(session), batch, 4));
    assert_ok(mnn_session_resize(session));
    assert_int_equal(written(session, 1), measures);
    assert_ok(mnn_session_destroy(&session));
    session = on_vulkan(net, MNN_GPU_TUNING_FAST, MNN_PRECISION_NORMAL);
    assert_ok(mnn_session_resize_input(session, first_input(session), batch, 4));
    assert_ok(mnn_session_resize(session));
    assert_int_equal(written(session, 1), 0);
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_set_cache_file(net, NULL));
    unlink(path);
}

int main(void) {
    if (!has_device()) {
        print_message("skipped: %s\n", mnn_last_error());
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reason_is_said),
        cmocka_unit_test(measuring_writes_the_file_again),
    };
    return cmocka_run_group_tests_name("cache", tests, open_net, close_net);
}
