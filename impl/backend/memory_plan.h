// Plans one arena from lifetimes, before anything is allocated.
#pragma once
#include <cstdint>
#include <vector>

namespace mnnc {

struct MemoryRequest {
    int64_t bytes = 0;
    int firstStep = 0;   // the step that writes it
    int lastStep = 0;    // the last step that reads it
    int64_t offset = 0;  // set by the functions below
};

// Sets the offset of every request and returns the size of the arena. `alignment` is a power of two of at least 64.
// Requests must be sorted by firstStep. Throws Overflow when the sum does not fit into 64 bits.
int64_t assignOffsets(std::vector<MemoryRequest>& requests, int64_t alignment = 64);

// The same, except that no two requests share memory and that at least 1024 bytes follow each of them.
int64_t assignOffsetsApart(std::vector<MemoryRequest>& requests);

}  // namespace mnnc
