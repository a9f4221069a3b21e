// Operators over int8 tensors that share their operator type with the float ones.
#pragma once
#include "backends/cpu/cpu_backend.h"

namespace mnnc::cpu {

// Returns whether a float convolution can be computed as ConvInt8 or DepthwiseConvInt8.
bool quantizesConvolution(const Command& command);

// Returns the scale and zero point of an int8 tensor; the values of a plain tensor are its integers.
inline TensorQuant quantOf(const Operand& tensor) {
    return tensor.quant.known() ? tensor.quant : TensorQuant{1, 0, -128, 127};
}

// Create the operators over codes. Input 0 is int8; in binary operators and element-wise chains another may be.
std::unique_ptr<Execution> createInt8Pooling(CpuBackend& backend, const Command& command, std::string& reason);
std::unique_ptr<Execution> createInt8Activation(CpuBackend& backend, const Command& command, std::string& reason);
// Takes sums, differences and products of equal shapes; sums and products with a float for each channel.
std::unique_ptr<Execution> createInt8Binary(CpuBackend& backend, const Command& command, std::string& reason);
std::unique_ptr<Execution> createInt8Interp(CpuBackend& backend, const Command& command, std::string& reason);
std::unique_ptr<Execution> createInt8Deconvolution(CpuBackend& backend, const Command& command, std::string& reason);
// Computes y = f(x) by a table. `input`: the index of x among the inputs. `results`: f of the value of each code of x,
// at the index of the code's unsigned byte.
std::unique_ptr<Execution> createInt8Table(CpuBackend& backend, const Command& command, size_t input,
                                           const float* results);
constexpr int kCodes = 256;
// Stores the value of each code at the index of its unsigned byte.
void valuesOfCodes(const TensorQuant& quant, float* values);

bool quantizesPooling(const Command& command);
bool quantizesActivation(const Command& command);
bool quantizesBinary(const Command& command);
bool quantizesInterp(const Command& command);
bool quantizesDeconvolution(const Command& command);

}  // namespace mnnc::cpu
