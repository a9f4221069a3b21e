// Determines which arrays of a convolution's table (Convolution2D of schema/mnn.fbs) hold its weights, their number,
// and the parts of compressed weights as they are stored. Errors are BadWeights, Truncated, Overflow, and what reading
// a file throws.
#pragma once
#include <cstdint>
#include <vector>

#include "model/external_file.h"
#include "model/stored_floats.h"

namespace mnnc {

namespace wire {
struct Convolution2D;
}

enum class WeightForm {
    None,         // no weights at all: tensor weights or a weightless model
    Plain,        // f32
    Half,         // f16, compressed type 3
    SparseFloat,  // positions and f32 values
    Codes,        // compressed types 1, 2, 4: int8 codes with scales
    RawInt8,      // symmetricQuan.weight
};

// Returns the form that the table holds. Throws BadWeights when the compressed type is unknown.
WeightForm convWeightForm(const wire::Convolution2D& conv, const char* opName);

// Returns the number of weights that the table stores; -1 when there are none, or when only the external file, which is
// not given, has the number. Throws BadWeights, Truncated, Overflow.
int64_t convWeightCount(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName);

// Throws BadWeights where `found` weights are not the expected number; -1 accepts any.
void requireCount(int64_t found, int64_t expected, const char* opName);

// Parts of compressed weights in a table that has a quanParameter; empty where they are absent.
bool hasWeightBuffer(const wire::Convolution2D& conv);
// The stream of codes or halves.
StoredBytes weightBuffer(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName);
// The beginning of a stream with its head and its samples. For a stream inside the model it is the part that was
// verified.
HeldBytes weightBufferHead(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName);
// Scales, or values of sparse weights: as they are stored (of 16 bits where scaleStorage is FP16), and as floats.
StoredBytes storedAlpha(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName);
FloatView weightAlpha(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName);
// Positions of sparse weights.
std::vector<uint32_t> weightIndex(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName);

}  // namespace mnnc
