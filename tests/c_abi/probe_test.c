/* Lists of devices: the drivers are loaded once, and again when there could be other devices. The drivers are
 * driver/counting_driver.c with 0, 1 and 2 devices. Skipped (exit code 77) where there is no Vulkan loader. */
#include <stdio.h>

enum { SKIPPED = 77 };

#ifndef MNN_C_TEST_VULKAN

int main(void) {
    printf("skipped: the library is built without Vulkan\n");
    return SKIPPED;
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static const char* const drivers[] = {MNN_C_DRIVER_0, MNN_C_DRIVER_1, MNN_C_DRIVER_2};
static char folder[] = "/tmp/mnn_c_probe_XXXXXX";

/* Returns how often a VkInstance was made from that driver in this process: it stays loaded. */
static int instances_of(int devices) {
    void* driver = dlopen(drivers[devices], RTLD_LAZY | RTLD_NOLOAD);
    if (!driver) return 0;
    const int* count = dlsym(driver, "counting_driver_instances");
    assert_non_null(count);
    const int found = *count;
    dlclose(driver);
    return found;
}

static const char* in_folder(const char* name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* The manifest of the driver with that many devices. */
static void write_manifest(const char* path, int devices) {
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": \"%s\", \"api_version\": "
            "\"1.1.0\"}}\n",
            drivers[devices]);
    assert_int_equal(fclose(file), 0);
}

static void show(const char* path) {
    assert_int_equal(setenv("VK_DRIVER_FILES", path, 1), 0);
    assert_int_equal(setenv("VK_ICD_FILENAMES", path, 1), 0);
}

static size_t count_devices(void) {
    size_t count = UNTOUCHED_SIZE;
    const mnn_status status = mnn_device_count(MNN_FORWARD_VULKAN, &count);
    if (status == MNN_OK)
        assert_true(count > 0);
    else
        assert_fails(status, MNN_ERROR_BACKEND_MISSING);
    return count;
}

static int make_folder(void** state) {
    (void)state;
    for (int i = 0; i < 3; ++i) {
        char name[32];
        snprintf(name, sizeof name, "driver_%d.json", i);
        write_manifest(in_folder(name), i);
    }
    return 0;
}

static void drivers_are_asked_once(void** state) {
    (void)state;
    show(in_folder("driver_2.json"));
    const int before = instances_of(2);
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(count_devices(), 2);
        for (size_t k = 0; k < 2; ++k) {
            mnn_device_properties_t info;
            char name[32];
            info.struct_size = sizeof info;
            assert_ok(mnn_device_info(MNN_FORWARD_VULKAN, k, &info));
            snprintf(name, sizeof name, "counting device %zu", k);
            assert_string_equal(info.name, name);
            assert_string_equal(info.kind, "cpu");
            assert_int_equal(info.memory_bytes, 1 << 20);
            assert_int_equal(info.api_version, 1u << 22 | 1u << 12);
        }
        mnn_device_properties_t info;
        info.struct_size = sizeof info;
        assert_fails(mnn_device_info(MNN_FORWARD_VULKAN, 2, &info), MNN_ERROR_BAD_INDEX);
    }
    assert_int_equal(instances_of(2), before + 1);
}

/* The reason why there is no device is kept, too. */
static void no_device_is_an_answer(void** state) {
    (void)state;
    show(in_folder("driver_0.json"));
    void* held = dlopen(drivers[0], RTLD_LAZY); /* it counts as long as it is loaded */
    assert_non_null(held);
    const int before = instances_of(0);
    char sentence[1024] = "";
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(count_devices(), 0);
        if (i == 0) copy_last_error(sentence, sizeof sentence);
        assert_string_equal(mnn_last_error(), sentence);
        assert_non_null(strstr(sentence, "Vulkan driver"));
    }
    assert_int_equal(instances_of(0), before + 1);
    dlclose(held);
}

static void another_environment(void** state) {
    (void)state;
    const int order[] = {1, 2, 0, 2, 1};
    for (size_t i = 0; i < sizeof order / sizeof *order; ++i) {
        char name[32];
        snprintf(name, sizeof name, "driver_%d.json", order[i]);
        show(in_folder(name));
        assert_int_equal(count_devices(), order[i]);
        assert_int_equal(count_devices(), order[i]);
    }
    /* Variables of the driver itself. */
    show(in_folder("driver_2.json"));
    assert_int_equal(count_devices(), 2);
    assert_int_equal(setenv("COUNTING_DRIVER_ONE", "1", 1), 0);
    assert_int_equal(count_devices(), 1);
    assert_int_equal(unsetenv("COUNTING_DRIVER_ONE"), 0);
    assert_int_equal(count_devices(), 2);
}

/* A driver that is added, replaced and removed, under one name. */
static void another_manifest(void** state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", in_folder("later.json"));
    show(path);
    assert_int_equal(count_devices(), 0);
    write_manifest(path, 1);
    assert_int_equal(count_devices(), 1);
    write_manifest(in_folder("new.json"), 2);
    assert_int_equal(rename(in_folder("new.json"), path), 0);
    assert_int_equal(count_devices(), 2);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(count_devices(), 0);
}

/* A driver that is installed in one of the loader's folders. Drivers of the machine are listed beside it. */
static void installed_driver(void** state) {
    (void)state;
    char data[512], path[600];
    snprintf(data, sizeof data, "%s", in_folder("data"));
    unsetenv("VK_DRIVER_FILES");
    unsetenv("VK_ICD_FILENAMES");
    assert_int_equal(setenv("XDG_DATA_HOME", data, 1), 0);
    assert_int_equal(mkdir(data, 0755), 0);
    snprintf(path, sizeof path, "%s/vulkan", data);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/vulkan/icd.d", data);
    assert_int_equal(mkdir(path, 0755), 0);
    const size_t before = count_devices();
    snprintf(path, sizeof path, "%s/vulkan/icd.d/counting.json", data);
    write_manifest(path, 2);
    assert_int_equal(count_devices(), before + 2);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(count_devices(), before);
    unsetenv("XDG_DATA_HOME");
}

/* A child lists devices itself, and does not share the result. */
static void in_a_child(void** state) {
    (void)state;
    show(in_folder("driver_1.json"));
    assert_int_equal(count_devices(), 1);
    const int before = instances_of(1);
    const pid_t child = fork();
    if (child == 0) {
        size_t first = 0, second = 0;
        const bool ok = mnn_device_count(MNN_FORWARD_VULKAN, &first) == MNN_OK &&
                        mnn_device_count(MNN_FORWARD_VULKAN, &second) == MNN_OK;
        _exit(ok && first == 1 && second == 1 ? instances_of(1) - before : 100);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_int_equal(count_devices(), 1);
    assert_int_equal(instances_of(1), before);
}

/* While a session is alive the list is that of the drivers on which it runs. */
static void beside_a_session(void** state) {
    (void)state;
    unsetenv("VK_DRIVER_FILES");
    unsetenv("VK_ICD_FILENAMES");
    const size_t before = count_devices();
    if (before == 0) skip();
    mnn_interpreter_t* net = open_digits();
    mnn_session_t* session = NULL;
    mnn_schedule_config_t config;
    assert_ok(mnn_schedule_config_init(&config, sizeof config));
    config.forward_type = MNN_FORWARD_VULKAN;
    assert_ok(mnn_session_create(net, &config, &session));
    for (int i = 0; i < 2; ++i) {
        show(in_folder("driver_2.json"));
        assert_int_equal(count_devices(), before);
        show(in_folder("driver_1.json"));
        assert_int_equal(count_devices(), before);
    }
    assert_ok(mnn_session_destroy(&session));
    assert_int_equal(count_devices(), 1);
    assert_ok(mnn_interpreter_destroy(&net));
}

static void* ask(void* wrong) {
    for (int i = 0; i < 50; ++i) {
        size_t count = 0;
        mnn_device_properties_t info;
        info.struct_size = sizeof info;
        if (mnn_device_count(MNN_FORWARD_VULKAN, &count) != MNN_OK || count != 2 ||
            mnn_device_info(MNN_FORWARD_VULKAN, 1, &info) != MNN_OK || strcmp(info.name, "counting device 1") != 0)
            ++*(int*)wrong;
    }
    return NULL;
}

static void from_several_threads(void** state) {
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0};
    show(in_folder("driver_2.json"));
    const int before = instances_of(2);
    for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, ask, &wrong[i]), 0);
    for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; ++i) assert_int_equal(wrong[i], 0);
    assert_in_range(instances_of(2) - before, 1, THREADS); /* the first calls may run at the same time */
}

int main(void) {
    void* loader = dlopen("libvulkan.so.1", RTLD_LAZY);
    if (!loader) {
        printf("skipped: there is no Vulkan loader\n");
        return SKIPPED;
    }
    dlclose(loader);
    if (!mkdtemp(folder)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drivers_are_asked_once), cmocka_unit_test(no_device_is_an_answer),
        cmocka_unit_test(another_environment),    cmocka_unit_test(another_manifest),
        cmocka_unit_test(installed_driver),       cmocka_unit_test(in_a_child),
        cmocka_unit_test(from_several_threads),   cmocka_unit_test(beside_a_session),
    };
    const int failed = cmocka_run_group_tests_name("probe", tests, make_folder, NULL);
    const char* const left[] = {
        "driver_0.json", "driver_1.json", "driver_2.json", "data/vulkan/icd.d", "data/vulkan", "data", ""};
    for (size_t i = 0; i < sizeof left / sizeof *left; ++i) remove(in_folder(left[i]));
    return failed;
}

#endif
