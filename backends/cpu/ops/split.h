// How elementwise and row-wise operators cut their work over threads. Results never depend on the cut.
#pragma once
#include <algorithm>

#include "backend/thread_pool.h"
#include "tensor/tensor.h"

namespace mnnc::cpu {

constexpr int64_t kPieceElements = 16384;  // less than this is not worth a second thread

// body(begin, end) over `rows` rows of about `rowElements` elements each.
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

// Elements of the storage of a tensor, pad lanes included.
inline int64_t storageElements(const Tensor& tensor) {
    return tensor.storageBytes() / static_cast<int64_t>(elementBytes(tensor.type));
}

}  // namespace mnnc::cpu
