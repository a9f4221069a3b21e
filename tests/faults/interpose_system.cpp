// Calls of the system except those for memory: files, threads, properties of the machine.
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "callers.h"
#include "failures.h"
#include "interposed.h"

using namespace faults;

extern "C" {

EXPORTED int open(const char* path, int flags, ...) {
    if (refused(Call::Open, CALLER)) return -1;
    va_list list;
    va_start(list, flags);
    const mode_t mode = (flags & O_CREAT) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
EXPORTED int fstat(int file, struct stat* info) {
    if (refused(Call::Stat, CALLER)) return -1;
    return static_cast<int>(syscall(SYS_newfstatat, file, "", info, AT_EMPTY_PATH));
}
EXPORTED int lstat(const char* path, struct stat* info) {
    if (refused(Call::Stat, CALLER)) return -1;
    return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, info, AT_SYMLINK_NOFOLLOW));
}
EXPORTED int fchmod(int file, mode_t mode) {
    if (refused(Call::Mode, CALLER)) return -1;
    return static_cast<int>(syscall(SYS_fchmod, file, mode));
}
EXPORTED ssize_t read(int file, void* buffer, size_t bytes) {
    if (refused(Call::Read, CALLER)) {
        if (plan.error) return -1;
        if (bytes > 3) bytes = 3;
    }
    return syscall(SYS_read, file, buffer, bytes);
}
EXPORTED ssize_t pread(int file, void* buffer, size_t bytes, off_t offset) {
    if (refused(Call::Read, CALLER)) {
        if (plan.error) return -1;
        if (bytes > 3) bytes = 3;
    }
    return syscall(SYS_pread64, file, buffer, bytes, offset);
}
EXPORTED ssize_t write(int file, const void* buffer, size_t bytes) {
    const bool ours = isOurs(CALLER);
    if (ours && plan.active && plan.room >= 0) {
        const long room = plan.room;
        if (room == 0) {
            plan.failed.fetch_add(1);
            errno = ENOSPC;
            return -1;
        }
        if (bytes > static_cast<size_t>(room)) bytes = static_cast<size_t>(room);
        plan.room = room - static_cast<long>(bytes);
    } else if (ours && refused(Call::Write, CALLER)) {
        if (plan.error) return -1;
        if (bytes > 3) bytes = 3;
    }
    return syscall(SYS_write, file, buffer, bytes);
}
EXPORTED int rename(const char* from, const char* to) {
    if (refused(Call::Rename, CALLER)) return -1;
    return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
EXPORTED int fsync(int file) {
    if (refused(Call::Sync, CALLER)) return -1;
    return static_cast<int>(syscall(SYS_fsync, file));
}
EXPORTED int close(int file) {
    const bool bad = refused(Call::Close, CALLER);
    const int error = errno;
    const long result = syscall(SYS_close, file);  // a failed close has closed the file, too
    if (!bad) return static_cast<int>(result);
    errno = error;
    return -1;
}
EXPORTED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
    if (refused(Call::Thread, CALLER)) return plan.error;
    static auto* const next = real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
    return next(thread, attributes, body, argument);
}
EXPORTED long sysconf(int name) {
    if (refused(Call::Sysconf, CALLER)) return -1;
    static auto* const next = real<long(int)>("sysconf");
    return next(name);
}

// The names of the same calls with _FILE_OFFSET_BITS and in other builds.
EXPORTED int open64(const char* path, int flags, ...) __attribute__((alias("open")));
EXPORTED ssize_t pread64(int file, void* buffer, size_t bytes, off_t offset) __attribute__((alias("pread")));
EXPORTED int fstat64(int file, struct stat64* info) __attribute__((alias("fstat")));
EXPORTED int lstat64(const char* path, struct stat64* info) __attribute__((alias("lstat")));

}  // extern "C"
