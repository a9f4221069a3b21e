// Convolutions over int8 tensors in the packed layout [N][ceil(C/P)][H][W][P] (rounding: see int8_kernels.h). Lanes
// past the last channel may hold anything.
#pragma once
#include <cmath>
#include <memory>

#include "backends/cpu/kernels/conv_plan.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// The operations that follow the sums of (x + 128) * w. The arrays cover whole blocks of channels.
struct Int8Post {
    const float* scale = nullptr;
    const float* offset = nullptr;  // dense
    const float* min = nullptr;     // dense, with Int8ConvOptions::minima; else null
    const int32_t* bias = nullptr;  // depthwise
    float ratio = 1, lo = -128, hi = 127;
    int padding = 0;       // the value outside the map
    bool bounded = false;  // no result reaches 2^30 before it is clipped, which saves instructions

    // Sets `bounded`. `terms`: the number of products in a sum.
    void findBound(size_t channels, int64_t terms) {
        constexpr double kTerm = 255.0 * 128, kLimit = 1 << 30;
        bounded = true;
        for (size_t i = 0; i < channels; ++i) {
            const double sum =
                static_cast<double>(terms) * kTerm + (bias ? std::abs(static_cast<double>(bias[i])) : 0.0);
            // The comparison is false for NaN, too.
            bounded &= sum * std::abs(static_cast<double>(scale[i]) * static_cast<double>(ratio)) +
                           (offset ? std::abs(static_cast<double>(offset[i])) : 0.0) <
                       kLimit;
        }
    }
};

// A plan packs codes, [oc][ic/groups][kh][kw]; scales and minima are arguments of run().
class Int8ConvPlan : public ConvPlanBase {
  public:
    virtual void packQuantized(const QuantizedWeightsView& weights, void* packed, ThreadPool& pool) const = 0;
    // Writes to `floats` where it is not null, else to dst.
    virtual void run(const int8_t* src, const void* packed, int8_t* dst, float* floats, const Int8Post& post,
                     void* scratch, ThreadPool& pool) const = 0;
};

// A plan that can also store the sums of (x + 128) * w, modulo 2^32; `padding` is the value outside the map.
class Int8SumPlan : public Int8ConvPlan {
  public:
    virtual void runSums(const int8_t* src, const void* packed, int32_t* sums, int padding, void* scratch,
                         ThreadPool& pool) const = 0;
};

struct Int8ConvOptions {
    int groups = 1;
    bool srcNchw = false;      // src is row-major; only with at most four channels
    bool minima = false;       // some weights have a minimum
    bool nonNegative = false;  // no code of the input, nor the value outside the map, is below zero
};

// Returns the faster one of the two plans below for a dense or grouped convolution.
std::unique_ptr<Int8SumPlan> makeInt8ConvPlan(const Kernels& k, const ConvShape& shape, const Int8ConvOptions& options);
// Returns the kernels that matrix products of this convolution use. Those of first layers take any codes.
const Int8Kernels& int8DenseKernels(const Kernels& k, const ConvShape& shape, const Int8ConvOptions& options);
// Returns the plan as matrix products, which exists for every shape.
std::unique_ptr<Int8SumPlan> makeInt8DensePlan(const Kernels& k, const ConvShape& shape,
                                               const Int8ConvOptions& options);
// Returns Winograd's plan, whose sums are the same, for shapes that it accepts.
std::unique_ptr<Int8SumPlan> makeInt8WinogradPlan(const Kernels& k, const ConvShape& shape);
bool int8WinogradAccepts(const Kernels& k, const ConvShape& shape, const Int8ConvOptions& options);
// Returns the plan in which every channel is a group of its own; model/int8_limits.h has the largest window.
std::unique_ptr<Int8ConvPlan> makeInt8DepthwisePlan(const Kernels& k, const ConvShape& shape);

}  // namespace mnnc
