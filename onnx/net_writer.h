// Writes the net of a builder as the bytes of a .mnn file.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "builder.h"

namespace mnnc::onnx {

enum class Weights { Float, Half, Int8, Int4 };

struct WriteOptions {
    Weights weights = Weights::Float;
    size_t block = 0;                   // for codes: how many of a row share a scale; 0: the row
    std::function<void(Bytes)> forget;  // gets large parts of the model that are not read again
    bool beside = false;                // writes large arrays to a separate file even if they fit into the net
};

struct WrittenNet {
    flatbuffers::DetachedBuffer net;
    std::vector<uint8_t> weights;  // of the file beside it; empty: there is none

    Bytes bytes() const { return std::as_bytes(std::span(net.data(), net.size())); }
};

// notes: gets information about the weights for the user. Throws LimitExceeded where the net has more than 2,000 MiB
// without its large arrays.
WrittenNet writeNet(Builder& builder, const std::vector<V>& outputs, const WriteOptions& options,
                    std::vector<std::string>& notes);

}  // namespace mnnc::onnx
