/* Memory between two protected pages: an access outside of it ends the process. */
#ifndef MNN_C_TESTS_GUARDED_H
#define MNN_C_TESTS_GUARDED_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    unsigned char *pages, *data;
    size_t page, inside; /* bytes of a page, and of the pages between the two */
} guarded_t;

/* The data ends where the page behind begins, or begins where the page before ends. */
enum { GUARD_BEHIND, GUARD_BEFORE };

static inline guarded_t guarded_take(size_t bytes, int side) {
    guarded_t memory;
    memory.page = (size_t)sysconf(_SC_PAGESIZE);
    memory.inside = (bytes + memory.page - 1) / memory.page * memory.page;
    if (memory.inside == 0) memory.inside = memory.page;
    memory.pages =
        (unsigned char*)mmap(NULL, memory.inside + 2 * memory.page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory.pages == MAP_FAILED || mprotect(memory.pages + memory.page, memory.inside, PROT_READ | PROT_WRITE) != 0)
        abort();
    memory.data = memory.pages + memory.page + (side == GUARD_BEHIND ? memory.inside - bytes : 0);
    return memory;
}

/* After this a write ends the process, too. */
static inline void guarded_seal(const guarded_t* memory) {
    if (mprotect(memory->pages + memory->page, memory->inside, PROT_READ) != 0) abort();
}

static inline void guarded_free(guarded_t* memory) {
    munmap(memory->pages, memory->inside + 2 * memory->page);
    memory->pages = memory->data = NULL;
}

#endif
