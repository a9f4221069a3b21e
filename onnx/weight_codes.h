// Weights of convolutions as codes of 8 and 4 bits, in the format's stream of codes.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "array.h"
#include "mnn_objects_generated.h"

namespace mnnc::onnx {

// Codes [rows, columns] with a scale and a minimum for each row: weight = (code - smallest code) * scale + low, or code
// * scale where there are no lows. A row belongs to an output channel, or to a block of it.
struct WeightCodes {
    int bits = 8;
    size_t rows = 0, columns = 0;
    std::vector<int8_t> codes;
    std::vector<float> scales;
    std::vector<float> lows;
    ArrayPtr source;          // the array of the model, if it has these codes
    bool transposed = false;  // the source is [columns, rows]

    int smallest() const { return -(1 << (bits - 1)); }
};

// Returns whether codes can stand for the weights: those that are not finite have none, and the difference of any two
// has to be a float.
bool hasCodes(std::span<const float> weights);

// Returns the nearest codes of weights that have codes; scale and minimum of a row follow from its range.
WeightCodes encode(std::span<const float> weights, size_t rows, int bits);

// The table of a convolution with these codes.
std::unique_ptr<wire::IDSTQuanT> tableOf(const WeightCodes& codes);

}  // namespace mnnc::onnx
