/* The files that mnn_interpreter_save() writes: their access rights, symbolic links, and targets that are not regular
   files. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef _WIN32
#include <sys/socket.h>
#include <sys/un.h>
#endif

#include "process.h"
#include "support.h"

enum { PATH = 128 };

static char folder[] = "/tmp/mnn_saved_XXXXXX";
static mnn_interpreter_t* net;

static const char* in_folder(const char* name) {
    static char paths[4][PATH];
    static int next;
    char* path = paths[next++ % 4];
    snprintf(path, PATH, "%s/%s", folder, name);
    return path;
}

static void put(const char* path, const char* text, mode_t mode) {
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void assert_model(const char* path) {
    mnn_interpreter_t* saved = NULL;
    assert_ok(mnn_interpreter_create_from_file(path, NULL, &saved));
    assert_ok(mnn_interpreter_destroy(&saved));
}

static void assert_refused(const char* path, const char* reason) {
    assert_fails(mnn_interpreter_save(net, path), MNN_ERROR_FILE_OPEN_FAILED);
    if (!strstr(mnn_last_error(), reason) || !strstr(mnn_last_error(), path))
        fail_msg("\"%s\" does not say that %s %s", mnn_last_error(), path, reason);
}

static void an_old_file_is_replaced(void** state) {
    (void)state;
    const char* path = in_folder("model");
    put(path, "old", 0600);
    assert_ok(mnn_interpreter_save(net, path));
    assert_model(path);
    assert_int_equal(entries_of(folder), 1);
    assert_int_equal(unlink(path), 0);
}

/* Windows does not replace a file that others have open; elsewhere they keep the old one. */
static void a_file_that_is_open(void** state) {
    (void)state;
    const char* path = in_folder("model");
    char text[4] = "";
    put(path, "old", 0600);
    FILE* reader = fopen(path, "rb");
    assert_non_null(reader);
#ifdef _WIN32
    assert_fails(mnn_interpreter_save(net, path), MNN_ERROR_FILE_WRITE_FAILED);
#else
    assert_ok(mnn_interpreter_save(net, path));
    assert_model(path);
#endif
    assert_int_equal(fread(text, 1, 3, reader), 3);
    assert_string_equal(text, "old");
    fclose(reader);
    assert_int_equal(entries_of(folder), 1);
    assert_int_equal(unlink(path), 0);
}

static void paths_of_no_file(void** state) {
    (void)state;
    assert_refused("/nonexistent/folder/model", "cannot create a file beside");
    assert_refused("", "name is empty");
    assert_refused(folder, "is a directory");
    assert_int_equal(entries_of(folder), 0);
}

#ifdef _WIN32
#define LEFT_OUT(test, reason)       \
    static void test(void** state) { \
        (void)state;                 \
        posix_skip(reason);          \
    }
LEFT_OUT(rights_stay, "a file of Windows gets the rights that its folder gives")
LEFT_OUT(new_files_obey_the_mask, "Windows has no mask for the rights of new files")
LEFT_OUT(owner_stays, "a file of Windows gets the owner that its process gives")
LEFT_OUT(links_stay, "users of Windows may make no symbolic links")

static void other_files_are_refused(void** state) {
    (void)state;
    assert_refused("NUL", "is a device");
}
#else
static struct stat look_at(const char* path) {
    struct stat info;
    if (lstat(path, &info) != 0) fail_msg("there is no %s", path);
    return info;
}

static void rights_stay(void** state) {
    (void)state;
    const char* path = in_folder("model");
    const mode_t modes[] = {0644, 0600, 0444, 0755, 0666};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i) {
        put(path, "old", modes[i]);
        assert_ok(mnn_interpreter_save(net, path));
        assert_int_equal(look_at(path).st_mode, S_IFREG | modes[i]);
        assert_model(path);
        unlink(path);
    }
}

static void new_files_obey_the_mask(void** state) {
    (void)state;
    const char* path = in_folder("fresh");
    const mode_t masks[] = {0, 022, 027, 0177};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; ++i) {
        const mode_t before = umask(masks[i]);
        const mnn_status status = mnn_interpreter_save(net, path);
        umask(before);
        assert_int_equal(status, MNN_OK);
        assert_int_equal(look_at(path).st_mode, S_IFREG | (0666 & ~masks[i]));
        unlink(path);
    }
}

/* Only a privileged process can give a file to another user; in other processes the owner stays. */
static void owner_stays(void** state) {
    (void)state;
    const char* path = in_folder("owned");
    put(path, "old", 0640);
    const int privileged = chown(path, 12345, 23456) == 0;
    assert_ok(mnn_interpreter_save(net, path));
    const struct stat now = look_at(path);
    assert_int_equal(now.st_uid, privileged ? 12345 : geteuid());
    assert_int_equal(now.st_gid, privileged ? 23456 : getegid());
    assert_int_equal(now.st_mode, S_IFREG | 0640);
    unlink(path);
}

static void links_stay(void** state) {
    (void)state;
    assert_int_equal(mkdir(in_folder("inner"), 0755), 0);
    put(in_folder("inner/model"), "old", 0604);
    assert_int_equal(symlink("inner/second", in_folder("first")), 0); /* relative to the folder of the link */
    assert_int_equal(symlink("model", in_folder("inner/second")), 0);
    assert_ok(mnn_interpreter_save(net, in_folder("first")));
    assert_true(S_ISLNK(look_at(in_folder("first")).st_mode));
    assert_true(S_ISLNK(look_at(in_folder("inner/second")).st_mode));
    assert_int_equal(look_at(in_folder("inner/model")).st_mode, S_IFREG | 0604);
    assert_model(in_folder("inner/model"));

    /* An absolute link to a file that does not exist yet. */
    assert_int_equal(symlink(in_folder("inner/later"), in_folder("dangling")), 0);
    assert_ok(mnn_interpreter_save(net, in_folder("dangling")));
    assert_true(S_ISLNK(look_at(in_folder("dangling")).st_mode));
    assert_true(S_ISREG(look_at(in_folder("inner/later")).st_mode));
    assert_model(in_folder("dangling"));
    assert_int_equal(entries_of(folder), 3);
    assert_int_equal(entries_of(in_folder("inner")), 3);

    assert_int_equal(symlink("circle", in_folder("circle")), 0);
    assert_refused(in_folder("circle"), "circle");
    const char* const made[] = {"circle", "dangling", "first", "inner/later", "inner/second", "inner/model"};
    for (size_t i = 0; i < sizeof made / sizeof *made; ++i) assert_int_equal(unlink(in_folder(made[i])), 0);
    assert_int_equal(rmdir(in_folder("inner")), 0);
}

static void other_files_are_refused(void** state) {
    (void)state;
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_refused(in_folder("pipe"), "is a pipe");
    assert_int_equal(symlink("pipe", in_folder("link")), 0);
    assert_refused(in_folder("link"), "is a pipe");

    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", in_folder("socket"));
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (const struct sockaddr*)&address, sizeof address), 0);
    assert_refused(in_folder("socket"), "is a socket");
    close(listener);

    /* A terminal: no file can be created beside it, even by a process with all rights. */
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    char device[PATH];
    assert_int_equal(grantpt(terminal), 0);
    assert_int_equal(unlockpt(terminal), 0);
    assert_int_equal(ptsname_r(terminal, device, sizeof device), 0);
    assert_refused(device, "is a device");
    close(terminal);

    assert_true(S_ISFIFO(look_at(in_folder("pipe")).st_mode));
    assert_true(S_ISSOCK(look_at(in_folder("socket")).st_mode));
    assert_int_equal(entries_of(folder), 3);
    const char* const made[] = {"link", "pipe", "socket"};
    for (size_t i = 0; i < sizeof made / sizeof *made; ++i) assert_int_equal(unlink(in_folder(made[i])), 0);
}

#endif

static int begin(void** state) {
    (void)state;
    net = open_digits();
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void** state) {
    (void)state;
    mnn_interpreter_destroy(&net);
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_old_file_is_replaced),
        cmocka_unit_test(a_file_that_is_open),
        cmocka_unit_test(paths_of_no_file),
        cmocka_unit_test(rights_stay),
        cmocka_unit_test(new_files_obey_the_mask),
        cmocka_unit_test(owner_stays),
        cmocka_unit_test(links_stay),
        cmocka_unit_test(other_files_are_refused),
    };
    return cmocka_run_group_tests_name("saved_files", tests, begin, end);
}
