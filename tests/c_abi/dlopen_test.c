/* Loads the library by hand, resolves every function of the committed list, runs a net and unloads: nothing
 * of the library may stay mapped and no thread may be left. */
#include "support.h"

#include <dirent.h>
#include <dlfcn.h>

enum { ROUNDS = 20, NAME_BYTES = 128 };

/* Lines of /proc/self/maps that name the library's file. */
static int mappings(void) {
    FILE* maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    char line[8192];
    int count = 0;
    while (fgets(line, sizeof line, maps)) count += strstr(line, "libmnn_c") != NULL;
    fclose(maps);
    return count;
}

static int threads(void) {
    DIR* tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    int count = 0;
    for (const struct dirent* entry = readdir(tasks); entry; entry = readdir(tasks))
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

static void* resolve(void* library, const char* name) {
    dlerror();
    void* symbol = dlsym(library, name);
    if (!symbol) fail_msg("%s: %s", name, dlerror());
    return symbol;
}

static size_t resolve_all(void* library) {
    FILE* list = fopen(MNN_C_EXPORTS_FILE, "r");
    assert_non_null(list);
    char name[NAME_BYTES];
    size_t count = 0;
    while (fgets(name, sizeof name, list)) {
        name[strcspn(name, "\r\n")] = '\0';
        if (strncmp(name, "mnn_", 4) != 0) continue; /* the version node, comments */
        resolve(library, name);
        ++count;
    }
    fclose(list);
    return count;
}

/* ISO C has no cast from an object pointer to a function's: the bytes are copied. */
#define RESOLVE(function)                                  \
    __typeof__(&(function)) function##_ = NULL;            \
    do {                                                   \
        void* const found_ = resolve(library, #function);  \
        memcpy(&function##_, &found_, sizeof function##_); \
    } while (0)

static void run_once(void* library, int32_t thread_count, float* scores) {
    RESOLVE(mnn_interpreter_create_from_file);
    RESOLVE(mnn_interpreter_destroy);
    RESOLVE(mnn_schedule_config_init);
    RESOLVE(mnn_session_create);
    RESOLVE(mnn_session_destroy);
    RESOLVE(mnn_session_input);
    RESOLVE(mnn_session_output);
    RESOLVE(mnn_session_run);
    RESOLVE(mnn_tensor_write);
    RESOLVE(mnn_tensor_read);
    RESOLVE(mnn_last_error);
    mnn_interpreter_t* net = NULL;
    mnn_session_t* session = NULL;
    mnn_tensor_t *input = NULL, *output = NULL;
    mnn_schedule_config_t config;
    float pixels[PIXELS];
    fill_pixels(pixels, PIXELS, 50);
    assert_int_equal(mnn_schedule_config_init_(&config, sizeof config), MNN_OK);
    config.threads = thread_count;
    /* A sentence too: its storage is the thread's. */
    assert_int_equal(mnn_interpreter_create_from_file_("no-such-file.mnn", NULL, &net),
                     MNN_ERROR_FILE_NOT_EXIST);
    assert_true(mnn_last_error_()[0] != '\0');
    assert_int_equal(mnn_interpreter_create_from_file_(MNN_C_DIGITS_MODEL, NULL, &net), MNN_OK);
    assert_int_equal(mnn_session_create_(net, &config, &session), MNN_OK);
    assert_int_equal(mnn_session_input_(session, NULL, &input), MNN_OK);
    assert_int_equal(mnn_session_output_(session, NULL, &output), MNN_OK);
    assert_int_equal(mnn_tensor_write_(input, pixels, sizeof pixels, MNN_FORMAT_NCHW), MNN_OK);
    assert_int_equal(mnn_session_run_(session), MNN_OK);
    assert_int_equal(mnn_tensor_read_(output, scores, CLASSES * sizeof(float), MNN_FORMAT_NCHW), MNN_OK);
    if (thread_count > 1) assert_true(threads() > 1);
    assert_int_equal(mnn_session_destroy_(&session), MNN_OK);
    assert_int_equal(mnn_interpreter_destroy_(&net), MNN_OK);
}

static void load_run_unload(void** state) {
    (void)state;
    float first[CLASSES] = {0}, scores[CLASSES] = {0};
    assert_int_equal(mappings(), 0);
    for (int round = 0; round < ROUNDS; ++round) {
        void* library = dlopen(MNN_C_LIBRARY_PATH, (round % 2 ? RTLD_LAZY : RTLD_NOW) | RTLD_LOCAL);
        if (!library) fail_msg("%s", dlerror());
        assert_true(mappings() > 0);
        assert_true(resolve_all(library) > 40);
        run_once(library, round % 4 == 3 ? 3 : 1, scores);
        if (round == 0) memcpy(first, scores, sizeof first);
        assert_close(scores, first, CLASSES, 1e-4f);
        assert_int_equal(threads(), 1);
        assert_int_equal(dlclose(library), 0);
        if (mappings() != 0) fail_msg("round %d: the library is still mapped after dlclose", round);
        assert_int_equal(threads(), 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(load_run_unload)};
    return cmocka_run_group_tests_name("dlopen", tests, NULL, NULL);
}
