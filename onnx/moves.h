// Operators that only move elements of their inputs, so that codes and steps move with them.
#pragma once
#include "builder.h"

namespace mnnc::onnx {

inline bool movesElements(OpType type) {
    switch (type) {
        case OpType::Concat:
        case OpType::ConvertTensor:
        case OpType::DepthToSpace:
        case OpType::Flatten:
        case OpType::Identity:
        case OpType::Permute:
        case OpType::Reshape:
        case OpType::Slice:
        case OpType::SpaceToDepth:
        case OpType::Squeeze:
        case OpType::StridedSlice:
        case OpType::Unsqueeze:
            return true;
        default:
            return false;
    }
}

}  // namespace mnnc::onnx
