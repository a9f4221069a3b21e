// The scale of activations that are rounded to 16 bits, from their range.
#pragma once
#include <bit>
#include <limits>

#include "backends/cpu/kernels/w8a16/w8a16_kernels.h"

namespace mnnc {

inline ActivationScale activationScale(const ActivationRange& range) {
    const auto max = std::bit_cast<float>(range.largest);
    const bool isSigned = range.signs >> 31;
    const float steps = isSigned ? 32767.0f : 65535.0f;
    const int zero = isSigned ? 0 : -32768;
    if (range.largest > 0x7f7fffff) {
        const float none = std::numeric_limits<float>::quiet_NaN();
        return {none, none, 0.0f, zero};
    }
    if (!(max >= 1e-30f)) return {0.0f, 0.0f, 0.0f, zero};
    const float scale = max / steps;
    return {scale, scale * static_cast<float>(-zero), steps / max, zero};
}

}  // namespace mnnc
