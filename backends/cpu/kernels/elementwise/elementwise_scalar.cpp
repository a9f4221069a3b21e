// Elementwise codes of floats without a vector form: libm functions, compiled once.
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/kernels/elementwise/elementwise_pairs.h"

namespace mnnc {
namespace {

// Giles, "Approximating the erfinv function" (GPU Computing Gems, 2011), in single precision. Both -1 and 1 give
// +FLT_MAX, as in the reference.
float erfinv(float x) {
    if (std::fabs(x) == 1.0f) return FLT_MAX;
    float w = -std::log((1.0f - x) * (1.0f + x));
    float p;
    if (w < 5.0f) {
        w -= 2.5f;
        p = 2.81022636e-08f;
        p = 3.43273939e-07f + p * w;
        p = -3.5233877e-06f + p * w;
        p = -4.39150654e-06f + p * w;
        p = 0.00021858087f + p * w;
        p = -0.00125372503f + p * w;
        p = -0.00417768164f + p * w;
        p = 0.246640727f + p * w;
        p = 1.50140941f + p * w;
    } else {
        w = std::sqrt(w) - 3.0f;
        p = -0.000200214257f;
        p = 0.000100950558f + p * w;
        p = 0.00134934322f + p * w;
        p = -0.00367342844f + p * w;
        p = 0.00573950773f + p * w;
        p = -0.0076224613f + p * w;
        p = 0.00943887047f + p * w;
        p = 1.00167406f + p * w;
        p = 2.83297682f + p * w;
    }
    return p * x;
}
float tanF(float x) {
    return std::tan(x);
}
float acoshF(float x) {
    return std::acosh(x);
}
float sinhF(float x) {
    return std::sinh(x);
}
float asinhF(float x) {
    return std::asinh(x);
}
float atanhF(float x) {
    return std::atanh(x);
}
float coshF(float x) {
    return std::cosh(x);
}
float erfcF(float x) {
    return std::erfc(x);
}

template <float (*F)(float)>
void mapScalar(const float* x, float* y, size_t n) {
    for (size_t i = 0; i < n; ++i) y[i] = F(x[i]);
}

float floorDivF(float a, float b) {
    return static_cast<float>(std::floor(static_cast<double>(a) / b));
}
float floorModF(float a, float b) {
    return static_cast<float>(a - std::floor(static_cast<double>(a) / b) * static_cast<double>(b));
}
float modF(float a, float b) {
    return std::fmod(a, b);
}
float atan2F(float a, float b) {
    return std::atan2(a, b);
}
float powF(float a, float b) {
    return std::pow(a, b);
}
float logicalOrF(float a, float b) {
    return a != 0 || b != 0 ? 1.0f : 0.0f;
}
float logicalXorF(float a, float b) {
    return (a != 0) != (b != 0) ? 1.0f : 0.0f;
}
template <float (*F)(float, float)>
constexpr BinaryScalarFn floatFn = pairScalar<float, float, float, F>;

// Returns x^p: fast for the exponents that nets use, with libm for others.
void powFloat(const void* a, Elements aMode, const void* b, Elements bMode, void* y, size_t n, size_t lanes) {
    const float* x = static_cast<const float*>(a);
    float* out = static_cast<float*>(y);
    if (bMode == Elements::One && aMode == Elements::Each) {
        const float p = *static_cast<const float*>(b);
        if (p == 2.0f) {
            for (size_t i = 0; i < n; ++i) out[i] = x[i] * x[i];
            return;
        }
        if (p == 3.0f) {
            for (size_t i = 0; i < n; ++i) out[i] = x[i] * x[i] * x[i];
            return;
        }
        if (p == 0.5f) {
            // As in pow, -0 gives 0, and -infinity gives infinity.
            for (size_t i = 0; i < n; ++i) out[i] = x[i] == -INFINITY ? INFINITY : std::sqrt(x[i] + 0.0f);
            return;
        }
        if (p == -1.0f) {
            for (size_t i = 0; i < n; ++i) out[i] = 1.0f / x[i];
            return;
        }
    }
    floatFn<powF>(a, aMode, b, bMode, y, n, lanes);
}

}  // namespace

UnaryFn unaryScalarFloat(int code) noexcept {
    static constexpr Coded<UnaryFn> kFunctions[] = {
        {11, mapScalar<tanF>},   {18, mapScalar<acoshF>}, {19, mapScalar<sinhF>}, {20, mapScalar<asinhF>},
        {21, mapScalar<atanhF>}, {24, mapScalar<coshF>},  {26, mapScalar<erfcF>}, {27, mapScalar<erfinv>}};
    return withCode(kFunctions, code);
}

BinaryScalarFn binaryScalarFloat(int code) noexcept {
    static constexpr Coded<BinaryScalarFn> kFunctions[] = {
        {6, powFloat},         {13, floatFn<floorDivF>},  {17, floatFn<floorModF>},  {19, floatFn<modF>},
        {20, floatFn<atan2F>}, {21, floatFn<logicalOrF>}, {26, floatFn<logicalXorF>}};
    return withCode(kFunctions, code);
}

}  // namespace mnnc
