/* The cores that threads of this process may run on. */
#ifndef MNN_C_TESTS_CORES_H
#define MNN_C_TESTS_CORES_H

#include <stdbool.h>
#include <string.h>

#ifdef _WIN32
#include "windows_cores.h"
#else
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_CORES = CPU_SETSIZE };
struct cores {
    cpu_set_t set;
};

static inline struct cores cores_of_caller(void) {
    struct cores cores;
    CPU_ZERO(&cores.set);
    assert_int_equal(sched_getaffinity(0, sizeof cores.set, &cores.set), 0);
    return cores;
}

static inline struct cores one_core(int core) {
    struct cores cores;
    CPU_ZERO(&cores.set);
    CPU_SET(core, &cores.set);
    return cores;
}

static inline bool has_core(const struct cores* cores, int core) {
    return CPU_ISSET(core, &cores->set);
}

/* Returns how many threads of this process, except the first, have exactly these cores. */
static inline int workers_on(const struct cores* wanted) {
    DIR* list = opendir("/proc/self/task");
    assert_non_null(list);
    int count = 0;
    for (const struct dirent* entry = readdir(list); entry; entry = readdir(list)) {
        const int id = atoi(entry->d_name);
        cpu_set_t cores;
        if (id <= 0 || id == getpid() || sched_getaffinity(id, sizeof cores, &cores) != 0) continue;
        count += CPU_EQUAL(&cores, &wanted->set) != 0;
    }
    closedir(list);
    return count;
}
#endif

static inline bool same_cores(const struct cores* a, const struct cores* b) {
    return memcmp(a, b, sizeof *a) == 0;
}

#endif
