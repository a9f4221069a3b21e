// Weights and bias of convolution-like operators as floats, from any place in the file: inline f32 (borrowed from the
// model bytes where they are in memory), compressed, sparse, raw int8, or in the external file. All checks that need
// the decoded data happen here, because the bytes may have changed since they were verified. Errors are BadWeights,
// Truncated, Overflow, and what reading a file throws.
#pragma once
#include <cstdint>

#include "model/external_file.h"
#include "model/stored_floats.h"

namespace mnnc {

namespace wire {
struct Convolution2D;
}

// All forms as f32. expectedCount -1 accepts any count. Throws BadWeights "has no weights" for a weightless model.
FloatView decodeConvWeights(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                            const WeightFiles& files, const char* opName);

// The same in pieces where the form allows it; else completely decoded.
FloatSource convWeightSource(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                             const WeightFiles& files, const char* opName);

// One value per output channel; zeros when the file has none.
FloatView convBias(const wire::Convolution2D& conv, int64_t outputCount, const WeightFiles& files, const char* opName);

}  // namespace mnnc
