/* The part of cmocka that the C interface tests use, because Debian has no cmocka for Windows. */
#ifndef MNN_C_TESTS_WINDOWS_CMOCKA_H
#define MNN_C_TESTS_WINDOWS_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    const char* name;
    void (*run)(void** state);
    int (*setup)(void** state);
    int (*teardown)(void** state);
};
#define cmocka_unit_test(test) \
    { #test, test, NULL, NULL }
#define cmocka_unit_test_setup_teardown(test, setup, teardown) \
    { #test, test, setup, teardown }

enum { CMOCKA_PASSED = 0, CMOCKA_FAILED = 1, CMOCKA_SKIPPED = 2 };
static jmp_buf cmocka_end;

static inline void print_error(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}
#define print_message print_error

static inline void cmocka_stop(int result) {
    fflush(NULL);
    longjmp(cmocka_end, result);
}
static inline void _fail(const char* file, int line) {
    print_error("%s:%d: failure\n", file, line);
    cmocka_stop(CMOCKA_FAILED);
}
#define fail() _fail(__FILE__, __LINE__)
#define fail_msg(...) (print_error(__VA_ARGS__), print_error("\n"), fail())
#define skip() (print_error("%s:%d: skipped\n", __FILE__, __LINE__), cmocka_stop(CMOCKA_SKIPPED))

static inline void cmocka_check(int good, const char* text, const char* file, int line) {
    if (good) return;
    print_error("wanted: %s\n", text);
    _fail(file, line);
}
static inline void cmocka_equal(unsigned long long a, unsigned long long b, int equal, const char* text,
                                const char* file, int line) {
    if ((a == b) == equal) return;
    print_error("%s: 0x%llx, 0x%llx\n", text, a, b);
    _fail(file, line);
}
#define assert_true(value) cmocka_check(!!(value), #value, __FILE__, __LINE__)
#define assert_false(value) cmocka_check(!(value), "not " #value, __FILE__, __LINE__)
#define assert_null(value) cmocka_check((const void*)(value) == NULL, #value " is NULL", __FILE__, __LINE__)
#define assert_non_null(value) cmocka_check((const void*)(value) != NULL, #value " is not NULL", __FILE__, __LINE__)
#define cmocka_number(value) ((unsigned long long)(value))
#define assert_int_equal(a, b) cmocka_equal(cmocka_number(a), cmocka_number(b), 1, #a ", " #b, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) cmocka_equal(cmocka_number(a), cmocka_number(b), 0, #a ", " #b, __FILE__, __LINE__)
#define assert_ptr_equal(a, b) assert_int_equal((uintptr_t)(a), (uintptr_t)(b))
#define assert_ptr_not_equal(a, b) assert_int_not_equal((uintptr_t)(a), (uintptr_t)(b))
#define assert_string_equal(a, b) cmocka_strings(a, b, 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) cmocka_strings(a, b, 0, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) \
    cmocka_check(memcmp(a, b, size) == 0, #a " has the bytes of " #b, __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, size) \
    cmocka_check(memcmp(a, b, size) != 0, #a " has other bytes than " #b, __FILE__, __LINE__)
#define assert_in_range(value, least, most)                                                                   \
    cmocka_check(cmocka_number(value) >= cmocka_number(least) && cmocka_number(value) <= cmocka_number(most), \
                 #value " is from " #least " to " #most, __FILE__, __LINE__)
static inline void cmocka_strings(const char* a, const char* b, int equal, const char* file, int line) {
    if ((strcmp(a, b) == 0) == equal) return;
    print_error("\"%s\", \"%s\"\n", a, b);
    _fail(file, line);
}

/* Runs one test, or a function that prepares or cleans up. */
static inline int cmocka_one(const struct CMUnitTest* test, void** state) {
    const int end = setjmp(cmocka_end);
    if (end) return end;
    if (test->setup && test->setup(state) != 0) return CMOCKA_FAILED;
    test->run(state);
    return test->teardown && test->teardown(state) != 0 ? CMOCKA_FAILED : CMOCKA_PASSED;
}
static inline int cmocka_fixture(int (*fixture)(void** state), void** state) {
    if (!fixture) return CMOCKA_PASSED;
    const int end = setjmp(cmocka_end);
    return end ? end : fixture(state) != 0 ? CMOCKA_FAILED : CMOCKA_PASSED;
}
static inline int cmocka_group(const char* name, const struct CMUnitTest* tests, size_t count,
                               int (*setup)(void** state), int (*teardown)(void** state)) {
    int failed = 0, skipped = 0;
    void* group = NULL;
    if (cmocka_fixture(setup, &group) != CMOCKA_PASSED) {
        print_error("%s: the preparation failed\n", name);
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        void* state = group;
        const int end = cmocka_one(&tests[i], &state);
        if (end == CMOCKA_FAILED) print_error("FAILED: %s\n", tests[i].name);
        failed += end == CMOCKA_FAILED;
        skipped += end == CMOCKA_SKIPPED;
    }
    if (cmocka_fixture(teardown, &group) != CMOCKA_PASSED) {
        print_error("%s: the end failed\n", name);
        failed++;
    }
    print_error("%s: %u tests, %d failed, %d skipped\n", name, (unsigned)count, failed, skipped);
    return failed;
}
#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
    cmocka_group(name, tests, sizeof(tests) / sizeof *(tests), setup, teardown)
#define cmocka_run_group_tests(tests, setup, teardown) cmocka_run_group_tests_name(#tests, tests, setup, teardown)

#endif
