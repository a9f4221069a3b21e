/* Loaded before a program for Arm (LD_PRELOAD), it hides features of the CPU: emulators have CPUs with all features or
 * with those of one kind of core, but none that lacks a single one. HIDE_HWCAP and HIDE_HWCAP2 are masks of the bits
 * that the kernel's words AT_HWCAP and AT_HWCAP2 are not to have. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long kernels_value(unsigned long type) {
    unsigned long entry[2], value = 0;
    FILE* file = fopen("/proc/self/auxv", "rbe");
    while (file && fread(entry, sizeof entry, 1, file) == 1)
        if (entry[0] == type) value = entry[1];
    if (file) fclose(file);
    return value;
}

static unsigned long hidden(const char* name) {
    const char* const mask = getenv(name);
    return mask ? strtoul(mask, NULL, 0) : 0;
}

/* It replaces the C library's function. */
unsigned long getauxval(unsigned long type) {
    const unsigned long value = kernels_value(type);
    if (type == AT_HWCAP) return value & ~hidden("HIDE_HWCAP");
    return type == AT_HWCAP2 ? value & ~hidden("HIDE_HWCAP2") : value;
}
