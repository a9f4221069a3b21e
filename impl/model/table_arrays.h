// Pairs of float arrays in the tables of operators other than 2-D convolutions. Errors are BadWeights, Truncated,
// Overflow, and what reading a file throws.
#pragma once
#include "model/external_file.h"
#include "model/stored_floats.h"

namespace mnnc {

namespace wire {
struct Convolution3D;
struct Scale;
struct LayerNorm;
}  // namespace wire

// Either array may be external. An absent array is empty. Both have equal sizes, or the second is empty.
struct FloatPair {
    FloatView first;   // scale, gamma
    FloatView second;  // bias, beta
};
FloatPair scaleArrays(const wire::Scale& scale, const WeightFiles& files, const char* opName);
// Weights and bias of a 3-D convolution; their sizes are not checked.
FloatPair convolution3dArrays(const wire::Convolution3D& conv, const WeightFiles& files, const char* opName);
FloatPair layerNormArrays(const wire::LayerNorm& norm, const WeightFiles& files, const char* opName);

}  // namespace mnnc
