// The partition of elementwise and row-wise operators over threads. Results never depend on it.
#pragma once
#include <algorithm>

#include "backend/thread_pool.h"
#include "backends/cpu/kernels/plane_cut.h"
#include "tensor/operand.h"

namespace mnnc::cpu {

constexpr int64_t kPieceElements = 16384;  // the fewest elements that are worth a second thread

// Calls body(begin, end) over `rows` rows of about `rowElements` elements each.
template <typename Body>
void forRows(ThreadPool& pool, int64_t rows, int64_t rowElements, Body&& body) {
    const int64_t worth = rows * std::max<int64_t>(rowElements, 1) / kPieceElements;
    const int pieces = static_cast<int>(std::clamp<int64_t>(worth, 1, 4 * pool.threads()));
    parallelRanges(pool, rows, pieces, body);
}

template <typename Body>
void forElements(ThreadPool& pool, int64_t elements, Body&& body) {
    forRows(pool, elements, 1, body);
}

// Returns the number of elements in the storage of a tensor, padding lanes included.
inline int64_t storageElements(const Operand& tensor) {
    return tensor.storageBytes() / static_cast<int64_t>(elementBytes(tensor.type));
}

// Returns whether threads divide a packed map by its pixels: it is large enough for several threads, and they find its
// parts in their own caches.
inline bool storageByPixels(const Operand& tensor) {
    return tensor.channelBlock > 1 && storageElements(tensor) >= 2 * kPieceElements &&
           sharedByPixels(tensor.plane(), tensor.shape.at(1));
}

// Calls body(begin, end) over the elements of the storage of a tensor.
template <typename Body>
void forStorage(ThreadPool& pool, const Operand& tensor, Body&& body) {
    const int64_t elements = storageElements(tensor);
    if (!storageByPixels(tensor)) return forElements(pool, elements, body);
    const int64_t plane = tensor.plane(), block = tensor.channelBlock;
    forPlaneRows(pool, elements / (plane * block), plane, true, [&](int64_t i, int64_t begin, int64_t end) {
        body((i * plane + begin) * block, (i * plane + end) * block);
    });
}

}  // namespace mnnc::cpu
