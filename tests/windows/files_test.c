/* Files of Windows: names outside of ASCII, models that are saved over others, files that change meanwhile. */
#include "support.h"

#include <windows.h>

static char folder[512], path[768], other[768];

static void wide_of(const char* text, wchar_t* wide, int units) {
    assert_true(MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, units) > 0);
}

static int make_folder(void** state) {
    (void)state;
    wchar_t temporary[MAX_PATH], wide[1024];
    char start[512];
    assert_true(GetTempPathW(MAX_PATH, temporary) > 0);
    assert_true(WideCharToMultiByte(CP_UTF8, 0, temporary, -1, start, sizeof start, NULL, NULL) > 0);
    snprintf(folder, sizeof folder, "%smnn-\xc3\xbc\xe6\x97\xa5\xe6\x9c\xac-%lu", start, GetCurrentProcessId());
    snprintf(path, sizeof path, "%s\\net-\xc3\xa9.mnn", folder);
    snprintf(other, sizeof other, "%s\\other.mnn", folder);
    wide_of(folder, wide, 1024);
    return CreateDirectoryW(wide, NULL) ? 0 : 1;
}

static int remove_folder(void** state) {
    (void)state;
    wchar_t wide[1024];
    wide_of(path, wide, 1024);
    DeleteFileW(wide);
    wide_of(other, wide, 1024);
    DeleteFileW(wide);
    wide_of(folder, wide, 1024);
    return RemoveDirectoryW(wide) ? 0 : 1; /* it fails when anything else was left there */
}

static bool exists(const char* file) {
    wchar_t wide[1024];
    wide_of(file, wide, 1024);
    return GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES;
}

static void saved_under_a_name(void** state) {
    (void)state;
    mnn_interpreter_t *net = open_digits(), *again = NULL;
    assert_ok(mnn_interpreter_save(net, path));
    assert_true(exists(path));
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &again));
    mnn_session_t* session = open_session(again);
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_destroy(&session));
    /* A file that is open is replaced, too: sessions are made of it as it was. */
    assert_ok(mnn_interpreter_save(net, path));
    assert_ok(mnn_interpreter_destroy(&again));
    assert_ok(mnn_interpreter_destroy(&net));
}

static void files_that_cannot_be_opened(void** state) {
    (void)state;
    mnn_interpreter_t* net = NULL;
    assert_fails(mnn_interpreter_create_from_file("", NULL, &net), MNN_ERROR_FILE_NOT_EXIST);
    assert_fails(mnn_interpreter_create_from_file("no\\such\\folder\\net.mnn", NULL, &net), MNN_ERROR_FILE_NOT_EXIST);
    assert_fails(mnn_interpreter_create_from_file("\xff\xfe", NULL, &net), MNN_ERROR_FILE_NOT_EXIST);
    assert_fails(mnn_interpreter_create_from_file(folder, NULL, &net), MNN_ERROR_FILE_OPEN_FAILED);
    assert_fails(mnn_interpreter_create_from_file("NUL", NULL, &net), MNN_ERROR_FILE_OPEN_FAILED);
    net = open_digits();
    assert_fails(mnn_interpreter_save(net, folder), MNN_ERROR_FILE_OPEN_FAILED);
    assert_fails(mnn_interpreter_save(net, "no\\such\\folder\\net.mnn"), MNN_ERROR_FILE_OPEN_FAILED);
    assert_ok(mnn_interpreter_destroy(&net));
}

static HANDLE opened(const char* file) {
    wchar_t wide[1024];
    wide_of(file, wide, 1024);
    const HANDLE handle = CreateFileW(wide, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                      OPEN_EXISTING, 0, NULL);
    assert_true(handle != INVALID_HANDLE_VALUE);
    return handle;
}

static void set_time(HANDLE file, DWORD low) {
    const FILETIME time = {low, 0x01d00000};
    assert_true(SetFileTime(file, NULL, NULL, &time));
}

/* The file is old when it is loaded, so that its weights are read when a session is made. */
static void a_file_that_changes(void** state) {
    (void)state;
    mnn_interpreter_t *saved = open_digits(), *net = NULL;
    assert_ok(mnn_interpreter_save(saved, other));
    assert_ok(mnn_interpreter_destroy(&saved));
    HANDLE file = opened(other);
    set_time(file, 0);
    CloseHandle(file);
    assert_ok(mnn_interpreter_create_from_file(other, NULL, &net));
    file = opened(other);
    set_time(file, 10000000);
    CloseHandle(file);
    mnn_session_t* session = NULL;
    assert_fails(mnn_session_create(net, NULL, &session), MNN_ERROR_FILE_CHANGED);
    assert_ok(mnn_interpreter_destroy(&net));
}

static void a_file_that_is_removed(void** state) {
    (void)state;
    mnn_interpreter_t *saved = open_digits(), *net = NULL;
    assert_ok(mnn_interpreter_save(saved, other));
    assert_ok(mnn_interpreter_destroy(&saved));
    HANDLE file = opened(other);
    set_time(file, 0);
    CloseHandle(file);
    assert_ok(mnn_interpreter_create_from_file(other, NULL, &net));
    wchar_t wide[1024];
    wide_of(other, wide, 1024);
    assert_true(DeleteFileW(wide));
    mnn_session_t* session = open_session(net);
    assert_ok(mnn_session_run(session));
    assert_ok(mnn_session_destroy(&session));
    assert_ok(mnn_interpreter_destroy(&net));
}

static void workers_on_cores(void** state) {
    (void)state;
    mnn_runtime_config_t config;
    assert_ok(mnn_runtime_config_init(&config, sizeof config));
    mnn_runtime_t* runtime = NULL;
    config.threads = 2;
    assert_ok(mnn_runtime_create(&config, &runtime));
    assert_ok(mnn_runtime_destroy(&runtime));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_under_a_name),  cmocka_unit_test(files_that_cannot_be_opened),
        cmocka_unit_test(a_file_that_changes), cmocka_unit_test(a_file_that_is_removed),
        cmocka_unit_test(workers_on_cores),
    };
    return cmocka_run_group_tests_name("files", tests, make_folder, remove_folder);
}
