// Elementwise arithmetic of integers, compiled once. It is done in int32, which wraps, and narrower types keep the low
// bits. Operations that would trap or be undefined (division by zero, overflow to int) give a defined value.
#include <cmath>

#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/kernels/elementwise/elementwise_pairs.h"

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
    switch (code) {
        case 0:
            return same<T, addI>;
        case 1:
            return same<T, subI>;
        case 2:
            return same<T, mulI>;
        case 6:
            return sizeof(T) < 4 ? same<T, powWrapping> : same<T, powI>;
        case 7:
            return same<T, divI>;
        case 8:
            return same<T, minI>;
        case 9:
            return same<T, maxI>;
        case 10:
            return truth<T, greaterI>;
        case 11:
            return truth<T, greaterEqualI>;
        case 12:
            return truth<T, lessI>;
        case 13:
            return same<T, floorDivI>;
        case 14:
            return same<T, squaredDifferenceI>;
        case 15:
            return truth<T, equalI>;
        case 16:
            return truth<T, lessEqualI>;
        case 17:
            return same<T, remainderI>;
        case 19:
            return same<T, moduloI>;
        case 21:
            return same<T, logicalOrI>;
        case 22:
            return truth<T, notEqualI>;
        case 23:
            return same<T, andI>;
        case 24:
            return same<T, orI>;
        case 25:
            return same<T, xorI>;
        case 26:
            return same<T, logicalXorI>;
        case 27:
            return same<T, leftI>;
        case 28:
            return same<T, rightI>;
        default:
            return nullptr;
    }
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
    switch (code) {
        case 0:
            return mapIntegers<T, 0>;
        case 1:
            return mapIntegers<T, 1>;
        case 2:
        case 3:
        case 23:
            return mapIntegers<T, 2>;
        case 4:
            return mapIntegers<T, 4>;
        case 22:
            return mapIntegers<T, 22>;
        default:
            return nullptr;
    }
}

}  // namespace

BinaryScalarFn binaryScalarInt(DataType type, int code) noexcept {
    switch (type) {
        case DataType::Int32:
            return pick<int32_t>(code);
        case DataType::Int8:
            return pick<int8_t>(code);
        case DataType::UInt8:
            return pick<uint8_t>(code);
        case DataType::Int16:
            return pick<int16_t>(code);
        case DataType::UInt16:
            return pick<uint16_t>(code);
        default:
            return nullptr;
    }
}

BinaryScalarFn powerOfIntByFloat() noexcept {
    return pairScalar<int32_t, float, int32_t, powIntByFloat>;
}

UnaryIntegerFn unaryInteger(DataType type, int code) noexcept {
    switch (type) {
        case DataType::Int32:
            return pickUnary<int32_t>(code);
        case DataType::Int8:
            return pickUnary<int8_t>(code);
        case DataType::UInt8:
            return pickUnary<uint8_t>(code);
        case DataType::Int16:
            return pickUnary<int16_t>(code);
        case DataType::UInt16:
            return pickUnary<uint16_t>(code);
        default:
            return nullptr;
    }
}

}  // namespace mnnc
