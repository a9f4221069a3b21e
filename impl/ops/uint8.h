// Prepared parameters of the operators over TFLite's unsigned codes, real = (code - zero) * scale.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ops/convolution.h"
#include "ops/fixed_point.h"
#include "ops/pooling.h"

namespace mnnc {

struct CodeRange {
    int32_t low = 0, high = 255;
};
inline uint8_t clampCode(const CodeRange& range, int64_t value) {
    return static_cast<uint8_t>(std::clamp<int64_t>(value, range.low, range.high));
}

struct CodeConvParams : ParamsOf<CodeConvParams> {
    ConvParams window;
    bool depthwise = false;
    int64_t depthMultiplier = 1;
    std::vector<uint8_t> weights;  // [kernel height][kernel width][input channels of a group][output channels]
    std::vector<int32_t> bias;     // one per output channel
    int32_t zeroIn = 0, zeroWeight = 0, zeroOut = 0;
    FixedFactor factor;
    CodeRange range;
};

struct CodePoolParams : ParamsOf<CodePoolParams> {
    PoolParams window;
    CodeRange range;
};

struct CodeAddParams : ParamsOf<CodeAddParams> {
    int32_t zero[2] = {0, 0}, zeroOut = 0;
    FixedFactor factor[2], factorOut;
    CodeRange range;
};

// The parameters of a command that replaces each code by an entry of a table.
struct CodeTableParams : ParamsOf<CodeTableParams> {
    std::array<uint8_t, 256> results{};
    bool known = false;  // the file has the scale and the zero point of the codes
};

// exp(-d * beta * scale) for each distance d of a code from the largest one.
struct CodeSoftmaxParams : ParamsOf<CodeSoftmaxParams> {
    std::array<float, 256> powers{};
};

// Codes are shifted to the left by this many bits before the addition, as in TFLite's reference kernel of ADD.
constexpr int kCodeAddBits = 20;

}  // namespace mnnc
