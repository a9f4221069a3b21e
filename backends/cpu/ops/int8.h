// Operators over int8 tensors that share their operator type with the float ones.
#pragma once
#include "backends/cpu/cpu_backend.h"

namespace mnnc::cpu {

// Whether a float convolution can be computed as ConvInt8 or DepthwiseConvInt8.
bool quantizesConvolution(const Command& command);

// Max and average pooling, ReLU and ReLU6, sums, differences and products of equal shapes: when input 0 is
// int8.
std::unique_ptr<Execution> createInt8Pooling(CpuBackend& backend, const Command& command,
                                             std::string& reason);
std::unique_ptr<Execution> createInt8Activation(CpuBackend& backend, const Command& command,
                                                std::string& reason);
std::unique_ptr<Execution> createInt8Binary(CpuBackend& backend, const Command& command, std::string& reason);
bool quantizesPooling(const Command& command);
bool quantizesActivation(const Command& command);
bool quantizesBinary(const Command& command);

}  // namespace mnnc::cpu
