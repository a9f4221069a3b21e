// Convolutions over int8 tensors in the packed layout [N][ceil(C/P)][H][W][P] (rounding: see int8_kernels.h).
// Made once per shape, then immutable, like the plans of conv.h. Lanes past the last channel may hold
// anything.
#pragma once
#include <memory>
#include <string>

#include "backends/cpu/kernels/conv.h"

namespace mnnc {

// What follows the sums of (x + 128) * w; arrays of whole blocks.
struct Int8Post {
    const float* scale = nullptr;
    const float* offset = nullptr;  // dense
    const float* min = nullptr;     // dense; null: no weight has one
    const int32_t* bias = nullptr;  // depthwise
    float ratio = 1, lo = -128, hi = 127;
    int padding = 0;  // the value outside the map
};

class Int8ConvPlan {
  public:
    virtual ~Int8ConvPlan() = default;
    virtual int64_t packedBytes() const = 0;
    // [oc][ic/groups][kh][kw]
    virtual void packWeights(const int8_t* weights, void* packed, ThreadPool& pool) const = 0;
    // Two plans with the same variant pack the same weights to the same bytes.
    virtual std::string weightVariant() const = 0;
    // `withMin`: some weights have a minimum.
    virtual int64_t scratchBytes(bool withMin) const = 0;
    // Into `floats` where it is not null, else into dst.
    virtual void run(const int8_t* src, const void* packed, int8_t* dst, float* floats, const Int8Post& post,
                     void* scratch, ThreadPool& pool) const = 0;
    virtual const char* algorithm() const = 0;
};

// Dense and grouped. srcNchw: src is row-major; only with at most four channels.
std::unique_ptr<Int8ConvPlan> makeInt8ConvPlan(const Kernels& k, const ConvShape& shape, int groups,
                                               bool srcNchw);
// Every channel its own group.
std::unique_ptr<Int8ConvPlan> makeInt8DepthwisePlan(const Kernels& k, const ConvShape& shape);
// Whether there is one for this window.
bool fitsInt8Depthwise(const ConvShape& shape);

}  // namespace mnnc
