// Remainders, quotients rounded down, and powers (the rules of math.glsl).
#ifndef MATH_POWER_GLSL
#define MATH_POWER_GLSL
#include "math.glsl"

// Returns a modulo b with the sign of a, exact: it takes eight bits of the quotient at a time.
float remainderOf(float a, float b) {
    const uint ua = floatBitsToUint(a) & 0x7fffffffu, ub = floatBitsToUint(b) & 0x7fffffffu;
    if (ub == 0u || ua >= 0x7f800000u || ub > 0x7f800000u) return kNaN;
    if (ua < ub) return a;
    const uint ea = max(ua >> 23, 1u), eb = max(ub >> 23, 1u);
    const uint ma = (ua & 0x7fffffu) | (ua >= 0x800000u ? 0x800000u : 0u);
    const uint mb = (ub & 0x7fffffu) | (ub >= 0x800000u ? 0x800000u : 0u);
    uint r = ma % mb;
    for (uint left = ea - eb; left > 0u && r != 0u;) {
        const uint step_ = min(left, 8u);
        r = (r << step_) % mb;
        left -= step_;
    }
    uint bits = 0u;
    if (r != 0u) {
        const uint shift = 23u - uint(findMSB(r));
        bits = eb > shift ? ((eb - shift) << 23) | ((r << shift) & 0x7fffffu) : r << (eb - 1u);
    }
    return uintBitsToFloat(bits | (floatBitsToUint(a) & 0x80000000u));
}
float floorModOf(float a, float b) {
    // a - floor(a / b) * b would multiply 0 by infinity.
    if ((floatBitsToUint(b) & 0x7fffffffu) == 0x7f800000u) return kNaN;
    const float r = remainderOf(a, b);
    return r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r;
}
float floorDivOf(float a, float b) {
    float q = floor(a / b);
    if (!(abs(q) < 8388608.0) || isInfiniteOrNaN(b)) return q;
    // The quotient may have been rounded across an integer, which the remainder a - q b detects.
    precise float p = q * b;
    precise float r = (a - p) - productError(q, b, p);
    if (r != 0.0 && (r < 0.0) != (b < 0.0))
        q -= 1.0;
    else if (abs(r) >= abs(b))
        q += 1.0;
    return q;
}

// Computes x^y through a logarithm of twice the precision.
float powOf(float x, float y) {
    if (y == 0.0 || x == 1.0) return 1.0;
    if (isNotANumber(x) || isNotANumber(y)) return kNaN;
    const float a = abs(x);
    const bool whole = abs(y) >= 16777216.0 || floor(y) == y;
    const bool negative = floatBitsToUint(x) >= 0x80000000u && abs(y) < 16777216.0 && whole && (int(y) & 1) != 0;
    float result;
    if (isInfiniteOrNaN(y)) {
        result = a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? kInf : 0.0;
    } else if (a == 0.0 || a == kInf) {
        result = (a == 0.0) == (y > 0.0) ? 0.0 : kInf;
    } else {
        if (x < 0.0 && !whole) return kNaN;
        int n;
        const float f = logParts(a, n);
        // s + sl = f / (2 + f)
        precise float d = 2.0 + f;
        precise float dl = f - (d - 2.0);
        const float s = f / d;
        precise float sd = s * d;
        precise float rest = (f - sd) - productError(s, d, sd);
        rest = rest - s * dl;
        const float e = float(n);
        // The logarithm as high + low.
        precise float main_ = e * 0.693115234375;
        precise float high = main_ + 2.0 * s;
        precise float back = high - main_;
        precise float low = (main_ - (high - back)) + (2.0 * s - back);
        low = low + (logTail(s) + (2.0 * rest / d + e * 3.19461833e-05));
        precise float p = y * high;
        if (p > 89.0 || p < -88.0) {
            result = p > 0.0 ? kInf : 0.0;
        } else {
            precise float pl = productError(y, high, p) + y * low;
            precise float t = p + pl;
            precise float tl = pl - (t - p);
            const float r = expOf(t);
            result = t > 88.72283 ? kInf : r + r * tl;
        }
    }
    return negative ? -result : result;
}
#endif
