// variants: f32 f16 i32
// UnaryOp by code, and ELU, Selu, Threshold, over whole quads of the storage.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "math.glsl"

layout(constant_id = 1) const uint kCode = 0;
PUSH(uint quads; float a; float b;);
layout(binding = 0) readonly buffer Source { ELEM4 source[]; };
layout(binding = 1) writeonly buffer Destination { ELEM4 destination[]; };

#ifdef INT
VALUE4 apply(VALUE4 x) {
    switch (kCode) {
        case 0: return abs(x);
        case 1: return -x;
        case 4: return x * x;
        default: return sign(x);
    }
}
#else
float softplusOf(float x) {
    return max(x, 0.0) + log1pOf(expOf(-abs(x)));
}
float roundAway(float x) {
    const float t = trunc(x);
    return t + (abs(x - t) >= 0.5 ? withSign(1.0, x) : 0.0);
}
float eluOf(float x) {
    return push.b * (x > 0.0 ? x : push.a * expm1Of(x));
}
float squareRoot(float x) {
    return x < 0.0 ? kNaN : x == kInf ? x : sqrt(x);
}
VALUE4 apply(VALUE4 x) {
    switch (kCode) {
        case 0: return abs(x);
        case 1: return -x;
        case 2: return floor(x);
        case 3: return ceil(x);
        case 4: return x * x;
        case 5: return EACH(squareRoot, x);
        case 6: return 1.0 / EACH(squareRoot, x);
        case 7: return EACH(expOf, x);
        case 8: return EACH(logOf, x);
        case 9: return EACH(sinOf, x);
        case 10: return EACH(cosOf, x);
        case 11: return EACH(tanOf, x);
        case 12: return EACH(asinOf, x);
        case 13: return EACH(acosOf, x);
        case 14: return EACH(atanOf, x);
        case 15: return 1.0 / x;
        case 16: return EACH(log1pOf, x);
        case 17: return EACH(softplusOf, x);
        case 18: return EACH(acoshOf, x);
        case 19: return EACH(sinhOf, x);
        case 20: return EACH(asinhOf, x);
        case 21: return EACH(atanhOf, x);
        case 22: return sign(x);
        case 23: return EACH(roundAway, x);
        case 24: return EACH(coshOf, x);
        case 25: return EACH(erfOf, x);
        case 26: return EACH(erfcOf, x);
        case 27: return EACH(erfinvOf, x);
        case 28: return EACH(expm1Of, x);
        case 29: return EACH(sigmoidOf, x);
        case 30: return EACH(tanhOf, x);
        case 31: return x * clamp(x + 3.0, 0.0, 6.0) / 6.0;
        case 32: return EACH(geluTanhOf, x);
        case 33: return EACH(geluOf, x);
        case 34: return EACH(siluOf, x);
        case 35: return EACH(eluOf, x);                        // scale b (x > 0 ? x : a (e^x - 1))
        default: return VALUE4(greaterThan(x, VALUE4(push.a)));  // Threshold
    }
}
#endif

void main() {
    const uint i = ELEMENT_INDEX;
    if (i < push.quads) destination[i] = ELEM4(apply(VALUE4(source[i])));
}
