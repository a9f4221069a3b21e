/* The threads, files and memory of this process, from /proc; windows_process.h has the same for Windows. */
#ifndef MNN_C_TESTS_PROCESS_H
#define MNN_C_TESTS_PROCESS_H

#ifdef _WIN32
#include "windows_process.h"
#else
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#endif
#include <stdbool.h>
#include <time.h>

#ifndef _WIN32

/* Lines of /proc/self/maps that contain a text. */
static inline int mappings_of(const char* text) {
    FILE* maps = fopen("/proc/self/maps", "r");
    if (!maps) return -1;
    char line[8192];
    int count = 0;
    while (fgets(line, sizeof line, maps)) count += strstr(line, text) != NULL;
    fclose(maps);
    return count;
}

static inline int entries_of(const char* directory) {
    DIR* list = opendir(directory);
    if (!list) return -1;
    int count = 0;
    for (const struct dirent* entry = readdir(list); entry; entry = readdir(list)) count += entry->d_name[0] != '.';
    closedir(list);
    return count;
}

/* An emulator has threads of its own, which are there from the beginning. */
static int emulator_threads;
__attribute__((constructor)) static void count_emulator_threads(void) {
    emulator_threads = entries_of("/proc/self/task") - 1;
}

static inline int thread_count(void) {
    const int count = entries_of("/proc/self/task");
#ifdef __SANITIZE_THREAD__ /* it has its own thread most of the time */
    return count > 1 ? count - 1 : count;
#else
    return count - emulator_threads;
#endif
}

/* Counts the descriptor that reads the list, too. */
static inline int descriptor_count(void) {
    return entries_of("/proc/self/fd");
}

/* Whether a descriptor of this process is that of the file. */
static inline bool holds_open(const char* path) {
    char link[64], target[4096];
    bool found = false;
    for (int descriptor = 0; descriptor < 256; ++descriptor) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        const ssize_t length = readlink(link, target, sizeof target - 1);
        if (length > 0) found |= strncmp(target, path, (size_t)length) == 0 && strlen(path) == (size_t)length;
    }
    return found;
}

/* Whether the file is mapped into the memory of this process. */
static inline bool has_mapped(const char* path) {
    return mappings_of(path) > 0;
}

/* Resident memory in KiB. */
static inline long resident_kib(void) {
    FILE* status = fopen("/proc/self/status", "r");
    if (!status) return -1;
    char line[256];
    long kib = -1;
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1) break;
    fclose(status);
    return kib;
}
#endif

/* Resident memory in bytes. */
static inline size_t resident_bytes(void) {
    return (size_t)resident_kib() * 1024;
}

/* The number of threads, when joined threads may still end: the kernel lists a thread for a moment after its join.
 * Waits up to 5 s until there are at most `max_count`. */
static inline int settled_thread_count(int max_count) {
    int count = thread_count();
    for (int i = 0; i < 5000 && count > max_count; ++i) {
        const struct timespec millisecond = {0, 1000000};
        nanosleep(&millisecond, NULL);
        count = thread_count();
    }
    return count;
}

#endif
