// An operand of a program: a value and its storage in the program. The frame (backend/frame.h) has its place.
#pragma once
#include "tensor/storage.h"
#include "tensor/tensor.h"

namespace mnnc {

struct Operand final : Tensor, Storage {
    Operand() = default;
    explicit Operand(Tensor value) : Tensor(std::move(value)) {}

    // The operand in whose memory this one lies (the same bytes with another shape or meaning, or a part of them), and
    // the offset in bytes.
    Operand* aliasOf = nullptr;
    int64_t aliasOffset = 0;

    // Returns the number of elements in the storage, including pad lanes.
    int64_t storageElements() const {
        return channelBlock == 1 ? elements()
                                 : checkedMul(checkedMul(batch(), roundUp(shape.at(1), channelBlock), "packed size"),
                                              plane(), "packed size");
    }
    // Returns the number of bytes of the storage in host memory.
    int64_t storageBytes() const {
        return checkedMul(storageElements(), static_cast<int64_t>(elementBytes(type)), "tensor bytes");
    }
};

}  // namespace mnnc
