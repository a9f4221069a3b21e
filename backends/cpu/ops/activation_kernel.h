// The kernel of an activation with one parameter set for all elements.
#pragma once
#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "base/op_type.h"
#include "ops/activation.h"

namespace mnnc::cpu {

// An activation with its numbers, read from the parameters once.
struct ActivationKernel {
    enum class Kind : uint8_t { Leaky, Clip, Threshold, Elu } kind = Kind::Leaky;
    float a = 0, b = 0;

    // Takes ReLU, PReLU with one slope, ReLU6, Threshold, ELU or Selu. `name` is the operator's.
    ActivationKernel(OpType type, const Params* params, const char* name) {
        switch (type) {
            case OpType::ReLU:
                a = paramsAs<ReluParams>(params, name).slope;
                break;
            case OpType::PReLU:
                a = paramsAs<PReluParams>(params, name).slopes[0];
                break;
            case OpType::ReLU6: {
                const auto& clip = paramsAs<ClipParams>(params, name);
                kind = Kind::Clip;
                a = clip.lo;
                b = clip.hi;
                break;
            }
            default: {
                const auto& elu = paramsAs<EluParams>(params, name);
                kind = type == OpType::Threshold ? Kind::Threshold : Kind::Elu;
                a = elu.alpha;
                b = elu.scale;
            }
        }
    }

    // x and y may be the same.
    void run(const UnaryKernels& kernels, const float* x, float* y, size_t n) const {
        switch (kind) {
            case Kind::Leaky:
                return kernels.leaky(x, y, n, a);
            case Kind::Clip:
                return kernels.clip(x, y, n, a, b);
            case Kind::Threshold:
                return kernels.threshold(x, y, n, a);
            case Kind::Elu:
                return kernels.elu(x, y, n, a, b);
        }
    }
};

}  // namespace mnnc::cpu
