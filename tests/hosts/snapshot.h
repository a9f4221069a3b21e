/* The files that this process has mapped and open, from /proc, as a text that can be compared and printed. */
#ifndef MNN_C_TESTS_SNAPSHOT_H
#define MNN_C_TESTS_SNAPSHOT_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SNAPSHOT_LINES = 4096, SNAPSHOT_LINE_BYTES = 512 };

/* Sorted, without repetitions: a file is mapped in several pieces. */
typedef struct snapshot {
    char lines[SNAPSHOT_LINES][SNAPSHOT_LINE_BYTES];
    size_t count;
} snapshot_t;

static inline int snapshot_compare(const void* left, const void* right) {
    return strcmp(left, right);
}

static inline bool snapshot_add(snapshot_t* snapshot, const char* text) {
    if (snapshot->count == SNAPSHOT_LINES) return false;
    snprintf(snapshot->lines[snapshot->count++], SNAPSHOT_LINE_BYTES, "%s", text);
    return true;
}

static inline bool snapshot_add_mapped_files(snapshot_t* snapshot) {
    FILE* maps = fopen("/proc/self/maps", "r");
    if (!maps) return false;
    char line[8192];
    bool fine = true;
    while (fine && fgets(line, sizeof line, maps)) {
        const char* path = strchr(line, '/'); /* nothing before the path has one */
        line[strcspn(line, "\n")] = '\0';
        if (path) fine = snapshot_add(snapshot, path);
    }
    fclose(maps);
    return fine;
}

static inline bool snapshot_add_descriptors(snapshot_t* snapshot) {
    DIR* list = opendir("/proc/self/fd");
    if (!list) return false;
    bool fine = true;
    for (const struct dirent* entry = readdir(list); fine && entry; entry = readdir(list)) {
        char link[300], target[200], line[SNAPSHOT_LINE_BYTES];
        snprintf(link, sizeof link, "/proc/self/fd/%s", entry->d_name);
        const ssize_t length = readlink(link, target, sizeof target - 1);
        if (length < 0) continue; /* . and .. */
        target[length] = '\0';
        snprintf(line, sizeof line, "fd %s %s", entry->d_name, target);
        fine = snapshot_add(snapshot, line);
    }
    closedir(list);
    return fine;
}

/* Lists mapped files and open descriptors; the one that reads the list of descriptors is among them. */
static inline bool snapshot_take(snapshot_t* snapshot) {
    snapshot->count = 0;
    if (!snapshot_add_mapped_files(snapshot) || !snapshot_add_descriptors(snapshot)) return false;
    qsort(snapshot->lines, snapshot->count, SNAPSHOT_LINE_BYTES, snapshot_compare);
    size_t kept = 0;
    for (size_t i = 0; i < snapshot->count; ++i)
        if (kept == 0 || strcmp(snapshot->lines[i], snapshot->lines[kept - 1]) != 0)
            memmove(snapshot->lines[kept++], snapshot->lines[i], SNAPSHOT_LINE_BYTES);
    snapshot->count = kept;
    return true;
}

/* Returns whether all of `part` is in `whole`; prints the missing entries. */
static inline bool snapshot_contains(const snapshot_t* whole, const snapshot_t* part, const char* sign) {
    bool all = true;
    for (size_t i = 0; i < part->count; ++i)
        if (!bsearch(part->lines[i], whole->lines, whole->count, SNAPSHOT_LINE_BYTES, snapshot_compare)) {
            printf("  %s %s\n", sign, part->lines[i]);
            all = false;
        }
    return all;
}

/* Prints the differences. */
static inline bool snapshot_equal(const snapshot_t* before, const snapshot_t* after) {
    const bool gone = !snapshot_contains(after, before, "gone:");
    const bool come = !snapshot_contains(before, after, "come:");
    return !gone && !come;
}

#endif
