// The location of a tensor's bytes while a stage is planned: tensors may be views of others.
#pragma once
#include "tensor/operand.h"

namespace mnnc {

inline bool sameChannels(const Operand& a, const Operand& b) {
    return a.shape.rank() >= 2 && b.shape.rank() >= 2 && a.format != Format::NHWC && b.format != Format::NHWC &&
           a.shape[0] == b.shape[0] && a.shape[1] == b.shape[1] && a.plane() == b.plane();
}

// With one pixel and whole blocks, the packed and the row-major bytes are equal.
inline bool packsToItself(const Operand& tensor, int channelBlock) {
    return tensor.plane() == 1 && tensor.shape[1] % channelBlock == 0;
}

// The planned location of a tensor's bytes: in a tensor that has storage of its own.
struct StorageLocation {
    Operand* root;
    int64_t offset;  // bytes
};

inline StorageLocation storageLocation(Operand* tensor) {
    int64_t offset = 0;
    for (; tensor->aliasOf; tensor = tensor->aliasOf) offset += tensor->aliasOffset;
    return {tensor, offset};
}

struct ConstStorageLocation {
    const Operand* root;
    int64_t offset;  // bytes
};

inline ConstStorageLocation storageLocation(const Operand* tensor) {
    int64_t offset = 0;
    for (; tensor->aliasOf; tensor = tensor->aliasOf) offset += tensor->aliasOffset;
    return {tensor, offset};
}

inline Operand* rootOf(Operand* tensor) {
    return storageLocation(tensor).root;
}
inline const Operand* rootOf(const Operand* tensor) {
    while (tensor->aliasOf) tensor = tensor->aliasOf;
    return tensor;
}

}  // namespace mnnc
