/* The cores that threads of this process may run on. */
#ifndef MNN_C_TESTS_WINDOWS_CORES_H
#define MNN_C_TESTS_WINDOWS_CORES_H

#include <windows.h>

#include <tlhelp32.h>

enum { MOST_CORES = 64 };
struct cores {
    ULONG_PTR mask;
};

/* THREAD_BASIC_INFORMATION of NtQueryInformationThread(), which the headers of Windows do not have. */
struct thread_facts {
    LONG status;
    void* environment;
    HANDLE process, thread;
    ULONG_PTR mask;
    LONG priority, base_priority;
};

static inline struct cores cores_of(HANDLE thread) {
    LONG(WINAPI * ask)(HANDLE, int, void*, ULONG, ULONG*) = NULL;
    const FARPROC found = GetProcAddress(GetModuleHandleA("ntdll.dll"), "NtQueryInformationThread");
    memcpy(&ask, &found, sizeof ask);
    struct thread_facts facts;
    assert_int_equal(ask(thread, 0, &facts, sizeof facts, NULL), 0);
    return (struct cores){facts.mask};
}

static inline struct cores cores_of_caller(void) {
    return cores_of(GetCurrentThread());
}

static inline struct cores one_core(int core) {
    return (struct cores){(ULONG_PTR)1 << core};
}

static inline bool has_core(const struct cores* cores, int core) {
    return cores->mask >> core & 1;
}

/* Returns how many threads of this process, except the caller, have exactly these cores. */
static inline int workers_on(const struct cores* wanted) {
    const HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
    THREADENTRY32 one = {.dwSize = sizeof one};
    int count = 0;
    for (BOOL found = Thread32First(all, &one); found; found = Thread32Next(all, &one)) {
        if (one.th32OwnerProcessID != GetCurrentProcessId() || one.th32ThreadID == GetCurrentThreadId()) continue;
        const HANDLE thread = OpenThread(THREAD_QUERY_INFORMATION, FALSE, one.th32ThreadID);
        if (!thread) continue;
        count += cores_of(thread).mask == wanted->mask;
        CloseHandle(thread);
    }
    CloseHandle(all);
    return count;
}

#endif
