// Sine, cosine, tangent and their inverses (the rules of math.glsl).
#ifndef MATH_TRIGONOMETRY_GLSL
#define MATH_TRIGONOMETRY_GLSL
#include "math.glsl"

const float kHalfPi = 1.57079633;
const float kPi = 3.14159265;

// a = quadrant pi/2 + r for a >= 0, |r| <= pi/4. Small angles are reduced by subtraction (Cody and Waite), large ones
// by the relevant bits of 2/pi (Payne and Hanek, "Radian reduction for trigonometric functions", 1983).
float quarterTurns(float a, out uint quadrant) {
    if (a < 4096.0) {
        const float n = roundEven(a * 0.636619772);
        quadrant = uint(n);
        precise float r = a - n * 1.5703125;
        r = r - n * 4.8375129699707031e-4;
        return r - n * 7.54979013e-08;
    }
    const uint kTwoOverPi[8] = uint[](0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
                                      0xfe5163abu);
    const uint bits = floatBitsToUint(a);
    const uint m = (bits & 0x7fffffu) | 0x800000u;
    // a = m 2^s. The 96 bits of 2/pi from `first` on (counted in the table) give the product modulo 4.
    const uint first = min((bits >> 23) - 150u + 30u, 134u);
    const uint at = first >> 5, shift = first & 31u;
    uint w[3];
    for (uint i = 0; i < 3; ++i) {
        w[i] = kTwoOverPi[at + i] << shift;
        if (shift != 0) w[i] |= kTwoOverPi[at + i + 1] >> (32u - shift);
    }
    uint high, low, carry;
    umulExtended(m, w[2], carry, low);
    umulExtended(m, w[1], high, low);
    uint overflow;
    const uint middle = uaddCarry(low, carry, overflow);
    const uint top = m * w[0] + high + overflow;
    // Two bits of quadrants come first, then the fraction: as a signed number it is the distance to the nearest
    // quadrant.
    const int fraction = int((top << 2) | (middle >> 30));
    quadrant = (top >> 30) + (fraction < 0 ? 1u : 0u);
    return (float(fraction) * 2.3283064365386963e-10 + float(middle << 2) * 5.421010862427522e-20) * kHalfPi;
}
float sinPart(float r) {
    const float z = r * r;
    return r + r * z * (((2.72496209e-06 * z - 0.000198400841) * z + 0.00833333191) * z - 0.166666672);
}
float cosPart(float r) {
    const float z = r * r;
    return 1.0 - 0.5 * z + z * z * ((2.45476895e-05 * z - 0.00138883013) * z + 0.0416666642);
}
float sinOf(float x) {
    if (isInfiniteOrNaN(x)) return kNaN;
    uint quadrant;
    const float r = quarterTurns(abs(x), quadrant);
    float y = (quadrant & 1u) == 0u ? sinPart(r) : cosPart(r);
    y = (quadrant & 2u) == 0u ? y : -y;
    return x < 0.0 ? -y : y;
}
float cosOf(float x) {
    if (isInfiniteOrNaN(x)) return kNaN;
    uint quadrant;
    const float r = quarterTurns(abs(x), quadrant);
    const float y = (quadrant & 1u) == 0u ? cosPart(r) : sinPart(r);
    return ((quadrant + 1u) & 2u) == 0u ? y : -y;
}
float tanOf(float x) {
    if (isInfiniteOrNaN(x)) return kNaN;
    uint quadrant;
    const float r = quarterTurns(abs(x), quadrant);
    const float y = (quadrant & 1u) == 0u ? sinPart(r) / cosPart(r) : -cosPart(r) / sinPart(r);
    return x < 0.0 ? -y : y;
}

float asinTail(float z) {  // (asin(x) - x) / x^3, z = x^2 <= 1/4
    return ((((0.0336908475 * z + 0.0171492379) * z + 0.0311006624) * z + 0.0445994027) * z + 0.0750009418) * z +
           0.166666657;
}
float asinOf(float x) {
    const float a = abs(x);
    if (!(a <= 1.0)) return kNaN;
    if (a <= 0.5) return x + x * a * a * asinTail(a * a);
    const float z = 0.5 - 0.5 * a, s = sqrt(z);
    return withSign(kHalfPi - 2.0 * (s + s * z * asinTail(z)), x);
}
float acosOf(float x) {
    const float a = abs(x);
    if (!(a <= 1.0)) return kNaN;
    if (a <= 0.5) return kHalfPi - (x + x * a * a * asinTail(a * a));
    const float z = 0.5 - 0.5 * a, s = sqrt(z);
    const float y = 2.0 * (s + s * z * asinTail(z));
    return x < 0.0 ? kPi - y : y;
}
float atanOf(float x) {
    const float a = abs(x);
    float base = 0.0, t = a;
    if (a > 2.41421356) {
        base = kHalfPi;
        t = -1.0 / a;
    } else if (a > 0.414213562) {
        base = 0.785398163;
        t = (a - 1.0) / (a + 1.0);
    }
    const float z = t * t;
    const float p =
        (((-0.06449835 * z + 0.107430995) * z - 0.142638966) * z + 0.199995384) * z - 0.333333313;
    return isNotANumber(x) ? x : withSign(base + (t + t * z * p), x);
}
float atan2Of(float y, float x) {
    if (isNotANumber(x) || isNotANumber(y)) return kNaN;
    const float high = max(abs(x), abs(y)), low = min(abs(x), abs(y));
    float t = low == high ? (high == 0.0 ? 0.0 : 0.785398163) : atanOf(low / high);
    if (abs(y) > abs(x)) t = kHalfPi - t;
    if (floatBitsToUint(x) >= 0x80000000u) t = kPi - t;
    return withSign(t, y);
}
#endif
