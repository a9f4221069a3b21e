// Fails chosen requests of the library, of memory and of the system, and counts what it holds.
//
// The program that this is linked into defines operator new, malloc, mmap, open and so on itself, so the dynamic
// linker resolves the library's calls to them. Whose a request is follows from its caller: the library, or libstdc++
// or libc called by it. Requests of drivers, of the dynamic loader and of the test are never counted nor failed.
#pragma once
#include <cstddef>

namespace faults {

enum class Call {
    Memory,  // every form of operator new, the malloc family, mmap
    Open,    // open
    Stat,    // fstat, lstat
    Read,    // read, pread
    Map,
    Write,
    Mode,  // fchmod
    Rename,
    Sync,
    Close,
    Thread,
    Sysconf,
    Last
};
const char* callName(Call call);

enum class Extent {
    Once,      // the n-th request alone
    FromThen,  // it and all that follow
    Few        // it and the 4 that follow: what is interrupted again and again, and then is not
};

// Finds where the library and what it calls lie; before everything else.
void begin();
// From now on the n-th request (1 is the next) fails with this errno. Of Read and Write, `error` 0 stands for short
// transfers: at most 3 bytes at once.
void arm(Call call, long n, Extent extent, int error);
// Writes succeed until this many bytes are written; then the disk is full.
void armFullDisk(long bytes);
// Nothing fails any more. Returns how many requests were made since arm() or watch().
long disarm();
// Counts requests without failing any.
void watch(Call call);
// How many requests failed since arm().
long failed();
// Blocks of memory and mappings that the library has asked for and that are not freed.
long live();
// Prints where the oldest of them were asked for.
void printLive();

}  // namespace faults
