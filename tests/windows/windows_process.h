/* The threads, handles and memory of this process. */
#ifndef MNN_C_TESTS_WINDOWS_PROCESS_H
#define MNN_C_TESTS_WINDOWS_PROCESS_H

#include <windows.h>

#include <psapi.h>
#include <tlhelp32.h>

static inline int thread_count(void) {
    const HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
    THREADENTRY32 one = {.dwSize = sizeof one};
    int count = 0;
    for (BOOL found = Thread32First(all, &one); found; found = Thread32Next(all, &one))
        count += one.th32OwnerProcessID == GetCurrentProcessId();
    CloseHandle(all);
    return count;
}

static inline int descriptor_count(void) {
    DWORD count = 0;
    return GetProcessHandleCount(GetCurrentProcess(), &count) ? (int)count : -1;
}

/* Resident memory in KiB. */
static inline long resident_kib(void) {
    PROCESS_MEMORY_COUNTERS memory = {.cb = sizeof memory};
    return K32GetProcessMemoryInfo(GetCurrentProcess(), &memory, sizeof memory) ? (long)(memory.WorkingSetSize / 1024)
                                                                                : -1;
}

#endif
