// Fails chosen requests of the library for memory and to the system, and counts the blocks that it holds.
//
// The program that links this defines operator new, malloc, mmap, open and so on itself, so the dynamic linker resolves
// the library's calls to them. A request is attributed by its caller: the library, or libstdc++ or libc called by it.
// Requests of drivers, of the dynamic loader and of the test are never counted nor failed.
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
    Few        // it and the 4 that follow: a call that is interrupted several times and then succeeds
};

// Finds where the library and the libraries that it calls are mapped; must be called before everything else.
void begin();
// After this the n-th request (1 is the next) fails with this errno. For Read and Write, `error` 0 means short
// transfers: at most 3 bytes at once.
void arm(Call call, long n, Extent extent, int error);
// Writes succeed until this many bytes are written; then the disk is full.
void armFullDisk(long bytes);
// Ends all failures. Returns how many requests were made since arm() or watch().
long disarm();
// Counts requests without failing any.
void watch(Call call);
// How many requests failed since arm().
long failed();
// Returns the blocks of memory and mappings that the library has requested and not released.
long live();
// Prints where the oldest of them were requested.
void printLive();

}  // namespace faults
