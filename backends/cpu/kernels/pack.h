// Layout conversions of float tensors.
//
// Packed: [N][ceil(C/P)][H*W][P]. Lanes past the last channel have unspecified content; the conversions *to* packed
// write zeros there, the conversions *from* packed never read them into a result. `area` is H*W (any product of inner
// extents). All functions divide the channel blocks among threads.
#pragma once
#include <cstddef>

#include "backend/thread_pool.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// The lanes of a block that another block takes: lane[i] goes to lane i; -1: lane i is not from this block.
struct LaneSource {
    const float* block;
    const int32_t* lane;  // as many as a vector has
};

// The functions of an instruction set, single-threaded; the functions below call them.
struct PackKernels {
    // Copies one channel block: `channels` (1..P) rows of `area` floats, `srcStride` apart, to area x P floats; and
    // back.
    void (*rowsToBlock)(const float* src, size_t srcStride, int channels, size_t area, float* dst);
    // Does the same, but the `area` groups of P floats are dstStride apart: a column of a wider panel.
    void (*rowsToPanel)(const float* src, size_t srcStride, int channels, size_t area, float* dst, size_t dstStride);
    void (*blockToRows)(const float* src, int channels, size_t area, float* dst, size_t dstStride);
    // Element c of source row r becomes element r of destination row c. Rows are srcStride and dstStride apart. The
    // floats may be any four bytes, because they are only copied.
    void (*transpose)(const float* src, size_t srcStride, size_t rows, size_t columns, float* dst, size_t dstStride);
    // Fills a block of `area` vectors, in memory of its own, from lanes of 1 to kMaxSources others. Lanes without a
    // source become zero.
    static constexpr int kMaxSources = 4;
    void (*mixLanes)(const LaneSource* sources, int count, size_t area, float* dst);
};

inline size_t packedFloats(int lanes, int batch, int channels, size_t area) {
    return size_t(batch) * ((size_t(channels) + lanes - 1) / lanes) * lanes * area;
}

void nchwToPacked(const Kernels& k, const float* src, float* dst, int batch, int channels, size_t area,
                  ThreadPool& pool);
void packedToNchw(const Kernels& k, const float* src, float* dst, int batch, int channels, size_t area,
                  ThreadPool& pool);
void nhwcToPacked(const Kernels& k, const float* src, float* dst, int batch, int channels, size_t area,
                  ThreadPool& pool);
void packedToNhwc(const Kernels& k, const float* src, float* dst, int batch, int channels, size_t area,
                  ThreadPool& pool);

}  // namespace mnnc
