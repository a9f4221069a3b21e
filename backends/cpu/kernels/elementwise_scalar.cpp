// Elementwise codes without a vector form: libm functions and int32 arithmetic, compiled once.
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "backends/cpu/kernels/elementwise.h"

namespace mnnc {
namespace {

// Giles, "Approximating the erfinv function" (single precision). Both ends give +FLT_MAX, as in the
// reference.
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
float sinF(float x) {
    return std::sin(x);
}
float cosF(float x) {
    return std::cos(x);
}
float tanF(float x) {
    return std::tan(x);
}
float asinF(float x) {
    return std::asin(x);
}
float acosF(float x) {
    return std::acos(x);
}
float atanF(float x) {
    return std::atan(x);
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

template <class T, class R, R (*F)(T, T)>
void pairScalar(const void* a, Operand aMode, const void* b, Operand bMode, void* y, size_t n, size_t lanes) {
    const T* ta = static_cast<const T*>(a);
    const T* tb = static_cast<const T*>(b);
    R* ty = static_cast<R*>(y);
    if (aMode == Operand::Each && bMode == Operand::Each) {
        for (size_t i = 0; i < n; ++i) ty[i] = F(ta[i], tb[i]);
    } else if (aMode == Operand::Each) {
        const size_t mask = bMode == Operand::Lanes ? lanes - 1 : 0;
        for (size_t i = 0; i < n; ++i) ty[i] = F(ta[i], tb[i & mask]);
    } else {
        const size_t mask = aMode == Operand::Lanes ? lanes - 1 : 0;
        for (size_t i = 0; i < n; ++i) ty[i] = F(ta[i & mask], tb[i]);
    }
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

// x^p for the exponents nets use; others by libm.
void powFloat(const void* a, Operand aMode, const void* b, Operand bMode, void* y, size_t n, size_t lanes) {
    const float* x = static_cast<const float*>(a);
    float* out = static_cast<float*>(y);
    if (bMode == Operand::One && aMode == Operand::Each) {
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
            for (size_t i = 0; i < n; ++i) out[i] = std::sqrt(x[i]);
            return;
        }
        if (p == -1.0f) {
            for (size_t i = 0; i < n; ++i) out[i] = 1.0f / x[i];
            return;
        }
    }
    pairScalar<float, float, powF>(a, aMode, b, bMode, y, n, lanes);
}

// int32 arithmetic wraps; operations that would trap or be undefined (division by zero, overflow to int)
// have a value.
int32_t wrap(uint32_t v) {
    return static_cast<int32_t>(v);
}
uint32_t bits(int32_t v) {
    return static_cast<uint32_t>(v);
}
int32_t saturate(double v) {
    if (!(v == v)) return 0;
    if (v >= 2147483647.0) return INT32_MAX;
    if (v <= -2147483648.0) return INT32_MIN;
    return static_cast<int32_t>(v);
}
int32_t addI(int32_t a, int32_t b) {
    return wrap(bits(a) + bits(b));
}
int32_t subI(int32_t a, int32_t b) {
    return wrap(bits(a) - bits(b));
}
int32_t mulI(int32_t a, int32_t b) {
    return wrap(bits(a) * bits(b));
}
int32_t powI(int32_t a, int32_t b) {
    return saturate(std::pow(static_cast<double>(a), static_cast<double>(b)));
}
int32_t divI(int32_t a, int32_t b) {
    if (b == 0) return 0;
    return b == -1 ? wrap(0u - bits(a)) : a / b;
}
int32_t minI(int32_t a, int32_t b) {
    return a < b ? a : b;
}
int32_t maxI(int32_t a, int32_t b) {
    return a > b ? a : b;
}
int32_t greaterI(int32_t a, int32_t b) {
    return a > b;
}
int32_t greaterEqualI(int32_t a, int32_t b) {
    return a >= b;
}
int32_t lessI(int32_t a, int32_t b) {
    return a < b;
}
int32_t lessEqualI(int32_t a, int32_t b) {
    return a <= b;
}
int32_t equalI(int32_t a, int32_t b) {
    return a == b;
}
int32_t notEqualI(int32_t a, int32_t b) {
    return a != b;
}
int32_t floorDivI(int32_t a, int32_t b) {
    return b == 0 ? 0 : saturate(std::floor(static_cast<double>(a) / static_cast<double>(b)));
}
int32_t squaredDifferenceI(int32_t a, int32_t b) {
    return mulI(subI(a, b), subI(a, b));
}
// The sign rules of FLOORMOD and MOD are swapped against float: spec part 1, 6.1.
int32_t remainderI(int32_t a, int32_t b) {
    return b == 0 || b == -1 ? 0 : a % b;
}
int32_t moduloI(int32_t a, int32_t b) {
    const int32_t r = remainderI(a, b);
    return r != 0 && (r ^ b) < 0 ? r + b : r;
}
int32_t logicalOrI(int32_t a, int32_t b) {
    return a != 0 || b != 0;
}
int32_t logicalXorI(int32_t a, int32_t b) {
    return (a != 0) != (b != 0);
}
int32_t andI(int32_t a, int32_t b) {
    return a & b;
}
int32_t orI(int32_t a, int32_t b) {
    return a | b;
}
int32_t xorI(int32_t a, int32_t b) {
    return a ^ b;
}
int32_t leftI(int32_t a, int32_t b) {
    return wrap(bits(a) << (bits(b) & 31u));
}
int32_t rightI(int32_t a, int32_t b) {
    return a >> (bits(b) & 31u);
}

template <int32_t (*F)(int32_t, int32_t)>
constexpr BinaryScalarFn intFn = pairScalar<int32_t, int32_t, F>;

}  // namespace

UnaryFn unaryScalarFloat(int code) noexcept {
    switch (code) {
        case 9:
            return mapScalar<sinF>;
        case 10:
            return mapScalar<cosF>;
        case 11:
            return mapScalar<tanF>;
        case 12:
            return mapScalar<asinF>;
        case 13:
            return mapScalar<acosF>;
        case 14:
            return mapScalar<atanF>;
        case 18:
            return mapScalar<acoshF>;
        case 19:
            return mapScalar<sinhF>;
        case 20:
            return mapScalar<asinhF>;
        case 21:
            return mapScalar<atanhF>;
        case 24:
            return mapScalar<coshF>;
        case 26:
            return mapScalar<erfcF>;
        case 27:
            return mapScalar<erfinv>;
        default:
            return nullptr;
    }
}

BinaryScalarFn binaryScalarFloat(int code) noexcept {
    switch (code) {
        case 6:
            return powFloat;
        case 13:
            return pairScalar<float, float, floorDivF>;
        case 17:
            return pairScalar<float, float, floorModF>;
        case 19:
            return pairScalar<float, float, modF>;
        case 20:
            return pairScalar<float, float, atan2F>;
        default:
            return nullptr;
    }
}

BinaryScalarFn binaryScalarInt(int code) noexcept {
    switch (code) {
        case 0:
            return intFn<addI>;
        case 1:
            return intFn<subI>;
        case 2:
            return intFn<mulI>;
        case 6:
            return intFn<powI>;
        case 7:
            return intFn<divI>;
        case 8:
            return intFn<minI>;
        case 9:
            return intFn<maxI>;
        case 10:
            return intFn<greaterI>;
        case 11:
            return intFn<greaterEqualI>;
        case 12:
            return intFn<lessI>;
        case 13:
            return intFn<floorDivI>;
        case 14:
            return intFn<squaredDifferenceI>;
        case 15:
            return intFn<equalI>;
        case 16:
            return intFn<lessEqualI>;
        case 17:
            return intFn<remainderI>;
        case 19:
            return intFn<moduloI>;
        case 21:
            return intFn<logicalOrI>;
        case 22:
            return intFn<notEqualI>;
        case 23:
            return intFn<andI>;
        case 24:
            return intFn<orI>;
        case 25:
            return intFn<xorI>;
        case 26:
            return intFn<logicalXorI>;
        case 27:
            return intFn<leftI>;
        case 28:
            return intFn<rightI>;
        default:
            return nullptr;
    }
}

}  // namespace mnnc
