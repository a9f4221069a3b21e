// Weights of convolutions as int8 codes with their scales (model-format 5.4). Errors are BadWeights, Truncated,
// Overflow, and what reading a file throws.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "model/external_file.h"

namespace mnnc {

namespace wire {
struct Convolution2D;
}

// Codes with their dequantisation: weight = q * scale[p] + min[p], where piece p covers q.size()/scale.size()
// consecutive weights and there are blocksPerOutput pieces per output channel. min is empty when symmetric.
struct QuantizedWeights {
    std::vector<int8_t> q;
    std::vector<float> scale;
    std::vector<float> min;
    int64_t blocksPerOutput = 1;
};

// The properties of QuantizedWeights without its codes.
struct QuantizedForm {
    int bits = 8;  // 4: all codes are -8 to 7
    int64_t blocksPerOutput = 1;
    bool minima = false;
};

// The number of scales per output channel of int8 codes; 0 where only decoding the stream determines it.
int64_t convScalesPerOutput(const wire::Convolution2D& conv);
// Whether int8 codes have minima besides their scales.
bool convHasMinima(const wire::Convolution2D& conv);

// Only for Codes and RawInt8. The old int8 form (its alpha is a dummy) has scales of 1.
QuantizedWeights decodeQuantizedWeights(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                                        const WeightFiles& files, const char* opName);

// The form of those weights, without decoding the codes. Empty when the weights are not quantised.
std::optional<QuantizedForm> quantizedForm(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                                           const WeightFiles& files, const char* opName);

}  // namespace mnnc
