// Where a tensor's bytes are while a stage is planned: tensors may be views of others.
#pragma once
#include "tensor/tensor.h"

namespace mnnc {

inline bool sameChannels(const Tensor& a, const Tensor& b) {
    return a.shape.rank() >= 2 && b.shape.rank() >= 2 && a.format != Format::NHWC &&
           b.format != Format::NHWC && a.shape[0] == b.shape[0] && a.shape[1] == b.shape[1] &&
           a.plane() == b.plane();
}

// One pixel and whole blocks: packed and row-major are the same bytes.
inline bool packsToItself(const Tensor& tensor, int channelBlock) {
    return tensor.plane() == 1 && tensor.shape[1] % channelBlock == 0;
}

// Where a tensor's bytes are planned: in a tensor that has storage of its own.
struct StorageLocation {
    Tensor* root;
    int64_t offset;  // bytes
};

inline StorageLocation storageLocation(Tensor* tensor) {
    int64_t offset = 0;
    for (; tensor->aliasOf; tensor = tensor->aliasOf) offset += tensor->aliasOffset;
    return {tensor, offset};
}

struct ConstStorageLocation {
    const Tensor* root;
    int64_t offset;  // bytes
};

inline ConstStorageLocation storageLocation(const Tensor* tensor) {
    int64_t offset = 0;
    for (; tensor->aliasOf; tensor = tensor->aliasOf) offset += tensor->aliasOffset;
    return {tensor, offset};
}

inline Tensor* rootOf(Tensor* tensor) {
    return storageLocation(tensor).root;
}
inline const Tensor* rootOf(const Tensor* tensor) {
    while (tensor->aliasOf) tensor = tensor->aliasOf;
    return tensor;
}

}  // namespace mnnc
