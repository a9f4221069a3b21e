// The convolutions that the engine computes with int8 codes. It computes others with floats, and then the library that
// converts models must round their results itself.
#pragma once
#include <cstdint>
#include <limits>

#include "base/checked.h"

namespace mnnc {

// Above this many terms an int32 sum of 255 * 128 could overflow.
constexpr int64_t kMaxInt8Terms = std::numeric_limits<int32_t>::max() / (255 * 128);
// The bytes of its input that the depthwise kernels hold at a time: the columns of one output must fit.
constexpr int64_t kMaxInt8LineBytes = 32 << 10;

struct Int8ConvForm {
    bool depthwise = false;
    bool minima = false;  // some weights have a minimum (a zero point) beside their scale
    int64_t groups = 1;
    int64_t terms = 1;  // of the sum that is one element of the result
    int64_t kernelX = 1, kernelY = 1, dilateX = 1;
};

inline bool fitsInt8Depthwise(int64_t kernelX, int64_t kernelY, int64_t dilateX) {
    // On any instruction set a column has at most 64 bytes for two rows of the window.
    return (kernelX - 1) * dilateX + 1 <= kMaxInt8LineBytes / 64 / ceilDiv(kernelY, int64_t{2});
}

// Returns why the engine computes the convolution with floats; null: it computes it with codes.
inline const char* int8Objection(const Int8ConvForm& form) {
    if (form.terms > kMaxInt8Terms) return "sums of so many products do not fit";
    if (form.minima && (form.depthwise || form.groups > 1)) return "its weights have minima and are in groups";
    if (form.depthwise && !fitsInt8Depthwise(form.kernelX, form.kernelY, form.dilateX))
        return "its window is too large";
    return nullptr;
}

}  // namespace mnnc
