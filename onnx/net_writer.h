// Writes the net that a builder holds as the bytes of a .mnn file.
#pragma once
#include <cstdint>
#include <vector>

#include "builder.h"

namespace mnnc::onnx {

struct WriteOptions {
    bool halfWeights = false;  // constants and weights of floats are stored as halves
    std::vector<std::pair<std::string, std::string>> metadata;
};

// Throws LimitExceeded where the net has more than 2 GiB.
flatbuffers::DetachedBuffer writeNet(Builder& builder, const std::vector<V>& outputs,
                                     const WriteOptions& options);

}  // namespace mnnc::onnx
