// Functions that cut work into chunks and tasks.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace mnnc {

inline int ceilDiv(int a, int b) {
    return (a + b - 1) / b;
}
// These round up to whole cache lines.
inline size_t roundUpFloats(size_t floats) {
    return (floats + 15) / 16 * 16;
}
constexpr size_t wholeLines(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}
// Returns the first unit of chunk i of `chunks` equal ones.
inline int chunkBegin(int total, int i, int chunks) {
    return static_cast<int>(static_cast<int64_t>(total) * i / chunks);
}
// Does the same with chunks that begin between tiles of `tile` units, so that all tiles but the last are full.
inline int chunkBeginTiled(int total, int i, int chunks, int tile) {
    const int tiles = ceilDiv(total, tile);
    return tiles < chunks ? chunkBegin(total, i, chunks) : std::min(total, chunkBegin(tiles, i, chunks) * tile);
}
// Returns the number of units of the largest such chunk.
inline int maxChunk(int total, int chunks, int tile) {
    int largest = 0;
    for (int i = 0; i < chunks; ++i)
        largest =
            std::max(largest, chunkBeginTiled(total, i + 1, chunks, tile) - chunkBeginTiled(total, i, chunks, tile));
    return largest;
}
// Returns into how many tasks to cut each of `units`: the threads get equally many, or so many that one more or less
// does not matter.
inline int taskCount(int units, int maxTasks, int threads) {
    if (threads == 1) return 1;
    int tasks = std::clamp(ceilDiv(4 * threads, units), 1, maxTasks);
    while (units * tasks % threads != 0 && units * tasks < 12 * threads && tasks < maxTasks) ++tasks;
    return tasks;
}

}  // namespace mnnc
