// Copies between row-major tensors that Rasters and dynamic slices share.
#pragma once
#include <cstdint>
#include <cstring>

namespace mnnc::cpu {

constexpr int64_t kThreadedBytes = 64 * 1024;  // with fewer bytes a second thread costs more than it saves

// Copies `count` elements; the strides are in elements.
template <typename T>
void copyRow(const T* src, int64_t srcStride, T* dst, int64_t dstStride, int64_t count) {
    if (srcStride == 1 && dstStride == 1) {
        std::memcpy(dst, src, static_cast<size_t>(count) * sizeof(T));
    } else if (dstStride == 1) {
        for (int64_t i = 0; i < count; ++i) dst[i] = src[i * srcStride];
    } else {
        for (int64_t i = 0; i < count; ++i) dst[i * dstStride] = src[i * srcStride];
    }
}

}  // namespace mnnc::cpu
