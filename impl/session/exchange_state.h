// Two states of one tensor.
#pragma once
#include <utility>

#include "tensor/tensor.h"

namespace mnnc {

// Exchanges what a tensor is for what is kept of it, but for the memory of its name, which others point to.
inline void exchangeState(Tensor& tensor, Tensor& kept) noexcept {
    std::swap(tensor, kept);
    std::swap(tensor.name, kept.name);
}

}  // namespace mnnc
