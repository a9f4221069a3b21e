// The body of binary.comp and binary_compare.comp: y = f(a, b) with NumPy broadcasting. An invocation computes four
// adjacent outputs, or one where a run of outputs is not a multiple of four.
#include "common.glsl"
#ifdef COMPARE
#define OUT int
#define OUT4 ivec4
#else
#define OUT ELEM
#define OUT4 ELEM4
#endif

layout(constant_id = 1) const uint kCode = 0;
layout(constant_id = 2) const bool kRelu = false;
layout(constant_id = 3) const bool kQuads = true;
// The way in which an operand is read. 0: as the output is stored; 1: one value; 2: one value per channel of packed
// storage, stored row-major; 3: the same, packed; 4: by strides, adjacent along the innermost axis; 5: by strides, one
// value along it.
layout(constant_id = 4) const uint kModeA = 0;
layout(constant_id = 5) const uint kModeB = 0;
layout(constant_id = 6) const uint kDims = 0;  // axes outside the innermost one; sizes from the inside out
PUSH(uint count; uint run; uint plane; uint channels; uint perBatch; uint size[5]; uint strideA[5]; uint strideB[5];);
layout(binding = 0) readonly buffer AQuads { ELEM4 aQuads[]; };
layout(binding = 0) readonly buffer ASingles { ELEM aSingles[]; };
layout(binding = 1) readonly buffer BQuads { ELEM4 bQuads[]; };
layout(binding = 1) readonly buffer BSingles { ELEM bSingles[]; };
layout(binding = 2) writeonly buffer YQuads { OUT4 yQuads[]; };
layout(binding = 2) writeonly buffer YSingles { OUT ySingles[]; };

#ifdef INT
int divide(int a, int b) {  // b == 0: 0; the one quotient that does not fit wraps
    const int q = a / (b == 0 || b == -1 ? 1 : b);
    return b == 0 ? 0 : b == -1 ? -a : q;
}
int remainder(int a, int b) {
    return b == 0 || b == -1 ? 0 : a - divide(a, b) * b;
}
int modulo(int a, int b) {
    const int r = remainder(a, b);
    return r != 0 && (r ^ b) < 0 ? r + b : r;
}
int floorDivide(int a, int b) {
    if (b == -1 && a == int(0x80000000u)) return 0x7fffffff;
    return divide(a, b) - (remainder(a, b) != 0 && (a ^ b) < 0 ? 1 : 0);
}
int power(int a, int b) {  // saturates; a result between -1 and 1 becomes 0
    const bool odd = (b & 1) != 0;
    if (b == 0 || a == 1) return 1;
    if (a == -1) return odd ? -1 : 1;
    if (a == 0) return b > 0 ? 0 : 0x7fffffff;
    if (b < 0) return 0;
    const int limit = a < 0 && odd ? int(0x80000000u) : 0x7fffffff;
    if (b > 31) return limit;
    int r = a;
    for (int i = 1; i < b; ++i) {
        int high, low;
        imulExtended(r, a, high, low);
        if (high != (low >> 31)) return limit;
        r = low;
    }
    return r;
}
#define EACH2(f) ivec4(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w))
ivec4 apply(ivec4 a, ivec4 b) {
    switch (kCode) {
        case 0: return a + b;
        case 1: return a - b;
        case 2: return a * b;
        case 6: return EACH2(power);
        case 7: return EACH2(divide);
        case 8: return min(a, b);
        case 9: return max(a, b);
        case 10: return ivec4(greaterThan(a, b));
        case 11: return ivec4(greaterThanEqual(a, b));
        case 12: return ivec4(lessThan(a, b));
        case 13: return EACH2(floorDivide);
        case 14: return (a - b) * (a - b);
        case 15: return ivec4(equal(a, b));
        case 16: return ivec4(lessThanEqual(a, b));
        case 17: return EACH2(remainder);  // the sign rules of 17 and 19 are those of the CPU: swapped against float
        case 19: return EACH2(modulo);
        case 21: return ivec4(notEqual(a | b, ivec4(0)));
        case 22: return ivec4(notEqual(a, b));
        case 23: return a & b;
        case 24: return a | b;
        case 25: return a ^ b;
        case 26: return ivec4(notEqual(notEqual(a, ivec4(0)), notEqual(b, ivec4(0))));
        case 27: return mix(a << (b & 31), ivec4(0), greaterThan(uvec4(b), uvec4(31)));
        default: return a >> ivec4(min(uvec4(b), uvec4(31)));
    }
}
#elif defined(COMPARE)
ivec4 apply(vec4 a, vec4 b) {
    switch (kCode) {
        case 10: return ivec4(greaterThan(a, b));
        case 11: return ivec4(greaterThanEqual(a, b));
        case 12: return ivec4(lessThan(a, b));
        case 15: return ivec4(equal(a, b));
        case 16: return ivec4(lessThanEqual(a, b));
        default: return ivec4(notEqual(a, b));
    }
}
#else
#define USES_BINARY(code) true
#include "binary_float.glsl"
vec4 apply(vec4 a, vec4 b) {
    return binaryOf(kCode, a, b);
}
#endif

// The first element of an operand for the outputs from element `i` (quad `i`) on.
#define OFFSET(at, mode, stride)                                            \
    uint at = mode == 0 ? i * width : mode == 4 ? position * width : 0;     \
    if (mode == 2) at = (push.perBatch != 0 ? block / blocks * push.channels : 0) + block % blocks * 4; \
    if (mode == 3) at = (push.perBatch != 0 ? block : block % blocks) * 4;  \
    if (mode >= 4) {                                                        \
        uint rest = outside;                                                \
        for (uint d = 0; d < kDims; ++d) {                                  \
            at += rest % push.size[d] * stride[d];                          \
            rest /= push.size[d];                                           \
        }                                                                   \
    }
// A channel beyond the last one reads the last one, because its lane is padding.
#define LOAD(value, at, mode, quads, singles)                                                              \
    VALUE4 value;                                                                                          \
    if (mode == 2) {                                                                                       \
        const uint last = push.channels - 1 - block % blocks * 4;                                          \
        value = VALUE4(singles[at], singles[at + min(1u, last)], singles[at + min(2u, last)],              \
                       singles[at + min(3u, last)]);                                                       \
    } else if (mode == 1 || mode == 5 || !kQuads) {                                                        \
        value = VALUE4(VALUE(singles[at]));                                                                \
    } else {                                                                                               \
        value = VALUE4(quads[at / 4]);                                                                     \
    }

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.count) return;
    const uint width = kQuads ? 4 : 1;
    const uint position = i % push.run, outside = i / push.run;  // of operands with strides
    const uint block = i / push.plane, blocks = (push.channels + 3) / 4;  // of packed storage
    OFFSET(atA, kModeA, push.strideA)
    OFFSET(atB, kModeB, push.strideB)
    LOAD(a, atA, kModeA, aQuads, aSingles)
    LOAD(b, atB, kModeB, bQuads, bSingles)
#ifdef COMPARE
    const ivec4 y = apply(a, b);
#else
    const VALUE4 result = apply(a, b);
    const VALUE4 y = kRelu ? max(result, VALUE4(0)) : result;
#endif
    if (kQuads)
        yQuads[i] = OUT4(y);
    else
        ySingles[i] = OUT(y.x);
}
