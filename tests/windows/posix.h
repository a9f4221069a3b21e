/* Functions of POSIX that the C interface tests call, for Windows. It is included before everything else. */
#ifndef MNN_C_TESTS_WINDOWS_POSIX_H
#define MNN_C_TESTS_WINDOWS_POSIX_H

#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#define mkdir(path, mode) _mkdir(path)

static inline int setenv(const char* name, const char* value, int replace) {
    return !replace && getenv(name) ? 0 : _putenv_s(name, value);
}
static inline int unsetenv(const char* name) {
    return _putenv_s(name, "");
}
#define _SC_PAGESIZE 1
static inline long sysconf(int name) {
    (void)name;
    return 65536; /* the addresses and offsets of mappings are multiples of this */
}

/* free() takes the blocks of aligned_alloc(), too: those have a mark and the address of the block around them before
 * them. */
#define POSIX_ALIGNED 0x616c69676e656421U
static inline void* posix_aligned_alloc(size_t alignment, size_t bytes) {
    char* const block = malloc(bytes + alignment + 2 * sizeof(uintptr_t));
    if (!block) return NULL;
    const uintptr_t start = ((uintptr_t)block + 2 * sizeof(uintptr_t) + alignment - 1) / alignment * alignment;
    const uintptr_t before[] = {POSIX_ALIGNED ^ start, (uintptr_t)block};
    memcpy((char*)start - sizeof before, before, sizeof before);
    return (char*)start;
}
/* The compiler would warn about what lies before a block whose bounds it knows. */
__attribute__((noinline, unused)) static void posix_free(void* block) {
    uintptr_t before[2] = {0};
    if (block) memcpy(before, (char*)block - sizeof before, sizeof before);
    if (block && before[0] == (POSIX_ALIGNED ^ (uintptr_t)block)) block = (void*)before[1];
    free(block);
}
#define aligned_alloc(alignment, bytes) posix_aligned_alloc(alignment, bytes)
#define free(block) posix_free(block)
static inline int posix_utime(const char* path, const struct utimbuf* times) {
    struct utimbuf copy = *times;
    return utime(path, &copy);
}
#define utime(path, times) posix_utime(path, times)
static inline int futimens(int file, const struct timespec times[2]) {
    struct _utimbuf seconds = {times[0].tv_sec, times[1].tv_sec};
    return _futime(file, &seconds);
}
#define AT_FDCWD 0
#define utimensat(folder, path, times, flags) posix_times(path, times)
static inline int posix_times(const char* path, const struct timespec times[2]) {
    struct utimbuf seconds = {0, 0};
    if (!times) return _utime(path, NULL);
    seconds.actime = times[0].tv_sec;
    seconds.modtime = times[1].tv_sec;
    return posix_utime(path, &seconds);
}
static inline ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
    return _lseeki64(file, offset, SEEK_SET) < 0 ? -1 : _write(file, bytes, (unsigned)size);
}

/* A test that needs what Windows lacks is skipped with the reason. */
#define posix_skip(reason) (print_error("%s: %s\n", __func__, reason), skip())

/* There are no such signals. */
#define SIGUSR1 0
#define SIGALRM 14 /* never comes */
#define SIGBUS 10
struct sigaction {
    void (*sa_handler)(int);
};
#define sigaction(number, action, before) \
    ((void)(action), (void)(before), posix_skip("Windows has no signals between threads"), -1)
#define pthread_kill(thread, number) (void)(thread)
/* ctest ends a program that hangs. */
static inline unsigned alarm(unsigned seconds) {
    (void)seconds;
    return 0;
}
/* Files have the bytes that were written, as on other systems. */
__attribute__((constructor)) static inline void posix_bytes(void) {
    _fmode = _O_BINARY;
}
/* mkstemp() of the C runtime opens the file exclusively. */
#define mkstemp(pattern) posix_mkstemp(pattern)
static inline int posix_mkstemp(char* pattern) {
    static unsigned number;
    char* const end = pattern + strlen(pattern) - 6;
    for (int tries = 0; tries < 1000; tries++) {
        snprintf(end, 7, "%06x", ((unsigned)getpid() * 4099U + ++number) & 0xffffffU);
        const int file = _open(pattern, _O_RDWR | _O_CREAT | _O_EXCL | _O_BINARY, _S_IREAD | _S_IWRITE);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}
static inline char* mkdtemp(char* pattern) {
    return _mktemp(pattern) && _mkdir(pattern) == 0 ? pattern : NULL;
}

#endif
