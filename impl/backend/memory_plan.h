// Plans one arena from lifetimes, before anything is allocated.
#pragma once
#include <cstdint>
#include <vector>

namespace mnnc {

struct MemoryRequest {
    int64_t bytes = 0;
    int firstStep = 0;   // written from here
    int lastStep = 0;    // still read here
    int64_t offset = 0;  // result
};

// Sets every request's offset and returns the arena's size. `alignment` is a power of two of at least 64.
// Requests must be sorted by firstStep. Throws Overflow when the sum does not fit 64 bits.
int64_t assignOffsets(std::vector<MemoryRequest>& requests, int64_t alignment = 64);

// The same, but that no two requests share memory, and that at least 1024 bytes lie behind each of them.
int64_t assignOffsetsApart(std::vector<MemoryRequest>& requests);

}  // namespace mnnc
