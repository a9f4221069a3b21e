/* The threads, files and memory of this process. */
#ifndef MNN_C_TESTS_WINDOWS_PROCESS_H
#define MNN_C_TESTS_WINDOWS_PROCESS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <windows.h>

#include <psapi.h>
#include <tlhelp32.h>

/* Threads that an emulator has in this process (process.h): under wine there are none that Windows lists. */
enum { emulator_threads = 0 };

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

/* Entries of a folder. */
static inline int entries_of(const char* folder) {
    char all[512];
    snprintf(all, sizeof all, "%s/*", folder);
    WIN32_FIND_DATAA one;
    const HANDLE search = FindFirstFileA(all, &one);
    if (search == INVALID_HANDLE_VALUE) return -1;
    int count = 0;
    do count += one.cFileName[0] != '.';
    while (FindNextFileA(search, &one));
    FindClose(search);
    return count;
}

/* Returns whether any process has the file open: then it cannot be opened exclusively. */
static inline bool holds_open(const char* path) {
    const HANDLE alone = CreateFileA(path, GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
    if (alone == INVALID_HANDLE_VALUE) return GetLastError() == ERROR_SHARING_VIOLATION;
    CloseHandle(alone);
    return false;
}

/* Whether the file is mapped into the memory of this process: a mapping with the name of the file, in any folder. */
static inline bool has_mapped(const char* path) {
    const char* name = path;
    for (const char* at = path; *at; at++)
        if (*at == '/' || *at == '\\') name = at + 1;
    MEMORY_BASIC_INFORMATION part;
    for (char* at = NULL; VirtualQuery(at, &part, sizeof part); at = (char*)part.BaseAddress + part.RegionSize) {
        char mapped[1024];
        const HANDLE us = GetCurrentProcess();
        if (part.Type != MEM_MAPPED || K32GetMappedFileNameA(us, at, mapped, sizeof mapped) == 0) continue;
        const char* const end = strrchr(mapped, '\\');
        if (end && strcmp(end + 1, name) == 0) return true;
    }
    return false;
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
