/* Version, status names, last error, backends. */
#include "support.h"

#include <pthread.h>

static void versions(void** state) {
    (void)state;
    int major = -1, minor = -1, patch = -1;
    char rest = 0;
    assert_int_equal(sscanf(mnn_version(), "%d.%d.%d%c", &major, &minor, &patch, &rest), 3);
    assert_true(major >= 0 && minor >= 0 && patch >= 0);
    assert_ptr_equal(mnn_version(), mnn_version());
    assert_int_equal(mnn_abi_version() / 65536, (uint32_t)major);
    assert_true(mnn_abi_version() > 0);
}

static void status_names(void** state) {
    (void)state;
#define NAMED(status) assert_string_equal(mnn_status_name(status), #status)
    NAMED(MNN_OK);
    NAMED(MNN_ERROR_OUT_OF_MEMORY);
    NAMED(MNN_ERROR_NOT_SUPPORTED);
    NAMED(MNN_ERROR_COMPUTE_SIZE);
    NAMED(MNN_ERROR_NO_EXECUTION);
    NAMED(MNN_ERROR_INVALID_VALUE);
    NAMED(MNN_ERROR_INPUT_DATA);
    NAMED(MNN_ERROR_CALLBACK_STOP);
    NAMED(MNN_ERROR_FILE_OPEN_FAILED);
    NAMED(MNN_ERROR_FILE_READ_FAILED);
    NAMED(MNN_ERROR_FILE_NOT_EXIST);
    NAMED(MNN_ERROR_NULL_ARGUMENT);
    NAMED(MNN_ERROR_BAD_HANDLE);
    NAMED(MNN_ERROR_BAD_STATE);
    NAMED(MNN_ERROR_NOT_FOUND);
    NAMED(MNN_ERROR_BAD_RANGE);
    NAMED(MNN_ERROR_BAD_TYPE);
    NAMED(MNN_ERROR_BAD_FORMAT);
    NAMED(MNN_ERROR_BAD_INDEX);
    NAMED(MNN_ERROR_TRUNCATED);
    NAMED(MNN_ERROR_BUSY);
    NAMED(MNN_ERROR_BACKEND_MISSING);
    NAMED(MNN_ERROR_VERSION_MISMATCH);
    NAMED(MNN_ERROR_CANCELLED);
    NAMED(MNN_ERROR_BAD_PARAMETER);
    NAMED(MNN_ERROR_BAD_WEIGHTS);
    NAMED(MNN_ERROR_OVERFLOW);
    NAMED(MNN_ERROR_CYCLE);
    NAMED(MNN_ERROR_LIMIT_EXCEEDED);
    NAMED(MNN_ERROR_BUFFER_TOO_SMALL);
    NAMED(MNN_ERROR_DEVICE_LOST);
    NAMED(MNN_ERROR_DRIVER);
    NAMED(MNN_ERROR_FILE_CHANGED);
    NAMED(MNN_ERROR_FILE_WRITE_FAILED);
    NAMED(MNN_ERROR_TIMEOUT);
    NAMED(MNN_ERROR_INTERNAL);
#undef NAMED
    const mnn_status unknown[] = {-1, 6, 37, 99, 111, 112, 126, 198, 200, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; ++i)
        assert_string_equal(mnn_status_name(unknown[i]), "unknown status");
}

static void last_error_names_the_fault(void** state) {
    (void)state;
    const char* name = UNTOUCHED_POINTER;
    assert_fails(mnn_backend_name(4711, &name), MNN_ERROR_BAD_INDEX);
    assert_ptr_equal(name, UNTOUCHED_POINTER);
    assert_non_null(strstr(mnn_last_error(), "4711"));
    /* Reading it changes nothing. */
    char kept[2048];
    copy_last_error(kept, sizeof kept);
    assert_string_equal(kept, mnn_last_error());
    (void)mnn_status_name(MNN_ERROR_BAD_INDEX);
    assert_string_equal(kept, mnn_last_error());
    mnn_interpreter_t* net = NULL;
    assert_fails(mnn_interpreter_create_from_file("no-such-file-4712.mnn", NULL, &net), MNN_ERROR_FILE_NOT_EXIST);
    assert_non_null(strstr(mnn_last_error(), "no-such-file-4712.mnn"));
}

static void last_error_copy_fills_a_buffer(void** state) {
    (void)state;
    assert_fails(mnn_backend_count(NULL), MNN_ERROR_NULL_ARGUMENT);
    const size_t bytes = strlen(mnn_last_error()) + 1;
    assert_true(bytes > 5);
    size_t needed = UNTOUCHED_SIZE;
    assert_ok(mnn_last_error_copy(NULL, 0, &needed));
    assert_int_equal(needed, bytes);
    char buffer[2048];
    for (size_t capacity = 1; capacity <= bytes + 2; ++capacity) {
        memset(buffer, '#', sizeof buffer);
        needed = UNTOUCHED_SIZE;
        assert_fails(mnn_last_error_copy(buffer, capacity, &needed),
                     capacity < bytes ? MNN_ERROR_BUFFER_TOO_SMALL : MNN_OK);
        assert_int_equal(needed, bytes);
        if (capacity < bytes) {
            assert_int_equal(buffer[0], '#');
        } else {
            assert_string_equal(buffer, mnn_last_error());
            assert_int_equal(buffer[bytes], '#');
        }
    }
}

/* A sentence that could not be copied remains for the next attempt. */
static void last_error_copy_leaves_the_sentence(void** state) {
    (void)state;
    assert_fails(mnn_backend_count(NULL), MNN_ERROR_NULL_ARGUMENT);
    char kept[2048], small[2];
    copy_last_error(kept, sizeof kept);
    size_t needed = UNTOUCHED_SIZE;
    assert_fails(mnn_last_error_copy(NULL, 1, &needed), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_last_error_copy(small, sizeof small, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_int_equal(needed, UNTOUCHED_SIZE);
    assert_fails(mnn_last_error_copy(small, sizeof small, &needed), MNN_ERROR_BUFFER_TOO_SMALL);
    assert_string_equal(mnn_last_error(), kept);
}

/* A sentence longer than any internal buffer is cut between characters. */
static void last_error_of_a_long_name(void** state) {
    (void)state;
    const size_t length = 100000;
    char* path = malloc(length + 1);
    assert_non_null(path);
    for (size_t shift = 0; shift < 2; ++shift) {
        for (size_t i = 0; i < length; ++i) path[i] = (char)((i + shift) % 2 ? 0xa4 : 0xc3);
        if (shift) path[0] = 'a';
        path[length - shift] = '\0';
        mnn_interpreter_t* net = UNTOUCHED_POINTER;
        const mnn_status status = mnn_interpreter_create_from_file(path, NULL, &net);
        assert_true(status != MNN_OK && status != MNN_ERROR_INTERNAL);
        assert_ptr_equal(net, UNTOUCHED_POINTER);
        const char* sentence = mnn_last_error();
        const size_t kept = strlen(sentence);
        assert_true(kept > 0);
        /* Whole two-byte letters only: as many second halves as first ones. */
        size_t first = 0, second = 0;
        for (size_t i = 0; i < kept; ++i) {
            first += (unsigned char)sentence[i] == 0xc3;
            second += (unsigned char)sentence[i] == 0xa4;
        }
        assert_int_equal(first, second);
    }
    free(path);
}

struct other_thread {
    char before[16];
    char after[256];
};

static void* fail_elsewhere(void* data) {
    struct other_thread* other = data;
    snprintf(other->before, sizeof other->before, "%s", mnn_last_error());
    const char* name;
    (void)mnn_backend_name(123456, &name);
    snprintf(other->after, sizeof other->after, "%s", mnn_last_error());
    return NULL;
}

static void last_error_is_per_thread(void** state) {
    (void)state;
    assert_fails(mnn_backend_count(NULL), MNN_ERROR_NULL_ARGUMENT);
    char mine[2048];
    copy_last_error(mine, sizeof mine);
    struct other_thread other = {"not empty", ""};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, &other), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(other.before, "");
    assert_non_null(strstr(other.after, "123456"));
    assert_string_equal(mnn_last_error(), mine);
}

static void backends(void** state) {
    (void)state;
    size_t count = 0;
    assert_ok(mnn_backend_count(&count));
    assert_true(count >= 1);
    bool cpu = false;
    for (size_t i = 0; i < count; ++i) {
        const char* name = NULL;
        int32_t type = -1;
        assert_ok(mnn_backend_name(i, &name));
        assert_ok(mnn_backend_forward_type(i, &type));
        assert_true(name && name[0]);
        if (type == MNN_FORWARD_CPU) {
            assert_string_equal(name, "cpu");
            cpu = true;
        } else {
            assert_int_equal(type, MNN_FORWARD_VULKAN);
            assert_string_equal(name, "vulkan");
        }
    }
    assert_true(cpu);
    const char* name = UNTOUCHED_POINTER;
    int32_t type = UNTOUCHED_INT;
    assert_fails(mnn_backend_name(count, &name), MNN_ERROR_BAD_INDEX);
    assert_fails(mnn_backend_name(SIZE_MAX, &name), MNN_ERROR_BAD_INDEX);
    assert_fails(mnn_backend_forward_type(count, &type), MNN_ERROR_BAD_INDEX);
    assert_ptr_equal(name, UNTOUCHED_POINTER);
    assert_int_equal(type, UNTOUCHED_INT);
    assert_fails(mnn_backend_count(NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_backend_name(0, NULL), MNN_ERROR_NULL_ARGUMENT);
    assert_fails(mnn_backend_forward_type(0, NULL), MNN_ERROR_NULL_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),
        cmocka_unit_test(status_names),
        cmocka_unit_test(last_error_names_the_fault),
        cmocka_unit_test(last_error_copy_fills_a_buffer),
        cmocka_unit_test(last_error_copy_leaves_the_sentence),
        cmocka_unit_test(last_error_of_a_long_name),
        cmocka_unit_test(last_error_is_per_thread),
        cmocka_unit_test(backends),
    };
    return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
