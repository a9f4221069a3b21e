/* The threads, handles and memory of this process. */
#ifndef MNN_C_TESTS_WINDOWS_PROCESS_H
#define MNN_C_TESTS_WINDOWS_PROCESS_H

#include <string.h>

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

/* Libraries and programs of this process whose path contains a text. */
static inline int mappings_of(const char* text) {
    const HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPMODULE, 0);
    MODULEENTRY32 one = {.dwSize = sizeof one};
    int count = 0;
    for (BOOL found = Module32First(all, &one); found; found = Module32Next(all, &one))
        count += strstr(one.szExePath, text) != NULL;
    CloseHandle(all);
    return count;
}

/* Resident memory in KiB. */
static inline long resident_kib(void) {
    PROCESS_MEMORY_COUNTERS memory = {.cb = sizeof memory};
    return K32GetProcessMemoryInfo(GetCurrentProcess(), &memory, sizeof memory) ? (long)(memory.WorkingSetSize / 1024)
                                                                                : -1;
}

#endif
