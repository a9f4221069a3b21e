// Elementwise arithmetic of integers, compiled once. It is done in int32, which wraps, and narrower types keep the low
// bits. Operations that would trap or be undefined (division by zero, overflow to int) give a defined value.
#include <cmath>

#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/kernels/elementwise/elementwise_pairs.h"
#include "tensor/element_types.h"

namespace mnnc {
namespace {

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
int32_t powIntByFloat(int32_t a, float b) {
    return saturate(std::pow(static_cast<double>(a), static_cast<double>(b)));
}
// Returns the low bits of the power; fractions become 0.
int32_t powWrapping(int32_t a, int32_t b) {
    if (b < 0) return powI(a, b);
    uint32_t power = bits(a), result = 1;
    for (uint32_t rest = bits(b); rest != 0; rest >>= 1, power *= power)
        if (rest & 1u) result *= power;
    return wrap(result);
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
// The sign rules of FLOORMOD and MOD are the opposite of those for float, see ModRule in ops/binary.h.
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
// Shifts like NumPy: a distance that is negative or not smaller than the width shifts all bits out.
int32_t leftI(int32_t a, int32_t b) {
    return bits(b) > 31 ? 0 : wrap(bits(a) << bits(b));
}
int32_t rightI(int32_t a, int32_t b) {
    return a >> (bits(b) > 31 ? 31u : bits(b));
}

template <class T, int32_t (*F)(int32_t, int32_t)>
T narrow(T a, T b) {
    return static_cast<T>(F(a, b));
}
template <class T, int32_t (*F)(int32_t, int32_t)>
int32_t compare(T a, T b) {
    return F(a, b);
}
template <class T, int32_t (*F)(int32_t, int32_t)>
constexpr BinaryScalarFn same = pairScalar<T, T, T, narrow<T, F>>;
template <class T, int32_t (*F)(int32_t, int32_t)>
constexpr BinaryScalarFn truth = pairScalar<T, T, int32_t, compare<T, F>>;

template <class T>
BinaryScalarFn pick(int code) noexcept {
    static constexpr Coded<BinaryScalarFn> kFunctions[] = {{0, same<T, addI>},
                                                           {1, same<T, subI>},
                                                           {2, same<T, mulI>},
                                                           {6, sizeof(T) < 4 ? same<T, powWrapping> : same<T, powI>},
                                                           {7, same<T, divI>},
                                                           {8, same<T, minI>},
                                                           {9, same<T, maxI>},
                                                           {10, truth<T, greaterI>},
                                                           {11, truth<T, greaterEqualI>},
                                                           {12, truth<T, lessI>},
                                                           {13, same<T, floorDivI>},
                                                           {14, same<T, squaredDifferenceI>},
                                                           {15, truth<T, equalI>},
                                                           {16, truth<T, lessEqualI>},
                                                           {17, same<T, remainderI>},
                                                           {19, same<T, moduloI>},
                                                           {21, same<T, logicalOrI>},
                                                           {22, truth<T, notEqualI>},
                                                           {23, same<T, andI>},
                                                           {24, same<T, orI>},
                                                           {25, same<T, xorI>},
                                                           {26, same<T, logicalXorI>},
                                                           {27, same<T, leftI>},
                                                           {28, same<T, rightI>}};
    return withCode(kFunctions, code);
}

template <class T>
T unaryValue(int code, T x) noexcept {
    const int32_t v = x;
    switch (code) {
        case 0:
            return static_cast<T>(v < 0 ? subI(0, v) : v);
        case 1:
            return static_cast<T>(subI(0, v));
        case 4:
            return static_cast<T>(mulI(v, v));
        case 22:
            return static_cast<T>((v > 0) - (v < 0));
        default:
            return x;  // floor, ceil, round
    }
}

template <class T, int Code>
void mapIntegers(const void* x, void* y, size_t n) {
    for (size_t i = 0; i < n; ++i) static_cast<T*>(y)[i] = unaryValue(Code, static_cast<const T*>(x)[i]);
}

template <class T>
UnaryIntegerFn pickUnary(int code) noexcept {
    static constexpr Coded<UnaryIntegerFn> kFunctions[] = {
        {0, mapIntegers<T, 0>}, {1, mapIntegers<T, 1>},   {2, mapIntegers<T, 2>}, {3, mapIntegers<T, 2>},
        {4, mapIntegers<T, 4>}, {22, mapIntegers<T, 22>}, {23, mapIntegers<T, 2>}};
    return withCode(kFunctions, code);
}

}  // namespace

BinaryScalarFn binaryScalarInt(DataType type, int code) noexcept {
    if (type == DataType::Float32 || type == DataType::BFloat16) return nullptr;
    return withInteger(type, [code]<typename T>(T) { return pick<T>(code); });
}

BinaryScalarFn powerOfIntByFloat() noexcept {
    return pairScalar<int32_t, float, int32_t, powIntByFloat>;
}

UnaryIntegerFn unaryInteger(DataType type, int code) noexcept {
    if (type == DataType::Float32 || type == DataType::BFloat16) return nullptr;
    return withInteger(type, [code]<typename T>(T) { return pickUnary<T>(code); });
}

}  // namespace mnnc
