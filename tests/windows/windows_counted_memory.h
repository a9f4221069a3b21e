/* Counts the requests of mnn_c.dll for memory, of the heap or of the system, by its table of imported functions: a
 * program of Windows cannot replace malloc() for its libraries. */
#ifndef MNN_C_TESTS_WINDOWS_COUNTED_MEMORY_H
#define MNN_C_TESTS_WINDOWS_COUNTED_MEMORY_H

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <windows.h>

static unsigned long requests;

static void count(void) {
    __atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED);
}

/* A new thread of winpthreads first requests memory for its own lock, possibly as late as during a later run of the
 * session. This first request is not counted: the thread that created it has counted requests for it. */
static DWORD has_begun;
static void* counted_malloc(size_t size) {
    if (TlsGetValue(has_begun)) count();
    TlsSetValue(has_begun, &has_begun);
    return malloc(size);
}
static void* counted_calloc(size_t number, size_t size) {
    count();
    return calloc(number, size);
}
static void* counted_realloc(void* old, size_t size) {
    count();
    return realloc(old, size);
}
static void* counted_aligned_malloc(size_t size, size_t alignment) {
    count();
    return _aligned_malloc(size, alignment);
}
static void* WINAPI counted_virtual_alloc(void* at, SIZE_T size, DWORD type, DWORD protection) {
    count();
    return VirtualAlloc(at, size, type, protection);
}
static void* WINAPI counted_map(HANDLE file, DWORD access, DWORD high, DWORD low, SIZE_T size) {
    count();
    return MapViewOfFile(file, access, high, low, size);
}

static void* counted_in_place_of(const char* name) {
    static const struct {
        const char* name;
        void* function;
    } counted[] = {{"malloc", counted_malloc},
                   {"calloc", counted_calloc},
                   {"realloc", counted_realloc},
                   {"_aligned_malloc", counted_aligned_malloc},
                   {"VirtualAlloc", counted_virtual_alloc},
                   {"MapViewOfFile", counted_map}};
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (strcmp(name, counted[i].name) == 0) return counted[i].function;
    if ((strstr(name, "lloc") && strcmp(name, "TlsAlloc") != 0) || strstr(name, "MapView")) {
        if (strstr(name, "Unmap")) return NULL;
        fprintf(stderr, "the library gets memory by %s, too, which is not counted\n", name);
        exit(1);
    }
    return NULL;
}

static void count_requests(void) {
    has_begun = TlsAlloc();
    TlsSetValue(has_begun, &has_begun); /* this thread has */
    char* const library = (char*)GetModuleHandleA("mnn_c.dll");
    const IMAGE_NT_HEADERS* head = (const void*)(library + ((const IMAGE_DOS_HEADER*)library)->e_lfanew);
    const IMAGE_DATA_DIRECTORY place = head->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT];
    const IMAGE_IMPORT_DESCRIPTOR* from = (const void*)(library + place.VirtualAddress);
    for (; from->Name; from++) {
        const IMAGE_THUNK_DATA* name = (const void*)(library + from->OriginalFirstThunk);
        IMAGE_THUNK_DATA* address = (void*)(library + from->FirstThunk);
        for (; name->u1.AddressOfData; name++, address++) {
            if (IMAGE_SNAP_BY_ORDINAL(name->u1.Ordinal)) continue;
            const IMAGE_IMPORT_BY_NAME* import = (const void*)(library + name->u1.AddressOfData);
            void* const function = counted_in_place_of((const char*)import->Name);
            DWORD before = 0;
            if (!function) continue;
            VirtualProtect(address, sizeof *address, PAGE_READWRITE, &before);
            address->u1.Function = (uintptr_t)function;
            VirtualProtect(address, sizeof *address, before, &before);
        }
    }
}

#endif
