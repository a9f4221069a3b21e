// The kernel of an activation with one parameter set for all elements.
#pragma once
#include "backends/cpu/kernels/elementwise.h"
#include "ops/activation.h"
#include "ops/op_type.h"

namespace mnnc::cpu {

// ReLU, PReLU with one slope, ReLU6, Threshold, ELU or Selu with its parameters. x and y may be the same.
inline void runActivation(const UnaryKernels& kernels, OpType type, const Params* params, const float* x,
                          float* y, size_t n) {
    switch (type) {
        case OpType::ReLU:
            return kernels.leaky(x, y, n, static_cast<const ReluParams*>(params)->slope);
        case OpType::PReLU:
            return kernels.leaky(x, y, n, static_cast<const PReluParams*>(params)->slopes[0]);
        case OpType::ReLU6: {
            const auto* clip = static_cast<const ClipParams*>(params);
            return kernels.clip(x, y, n, clip->lo, clip->hi);
        }
        case OpType::Threshold:
            return kernels.threshold(x, y, n, static_cast<const EluParams*>(params)->alpha);
        default: {
            const auto* elu = static_cast<const EluParams*>(params);
            return kernels.elu(x, y, n, elu->alpha, elu->scale);
        }
    }
}

}  // namespace mnnc::cpu
