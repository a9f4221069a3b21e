// Functions of one or two floats, as exact as the CPU's (about 1e-7 relative): those of GLSL may be wrong by
// 2^-11 (sin, cos), 4096 ulp (atan) or more. `precise` keeps drivers from cancelling what rounding errors are
// taken from. Polynomials were fitted for this project.
#define EACH(f, v) vec4(f(v.x), f(v.y), f(v.z), f(v.w))
#define kInf uintBitsToFloat(0x7f800000u)
#define kNaN uintBitsToFloat(0x7fc00000u)
const float kHalfPi = 1.57079633;
const float kPi = 3.14159265;

bool isNotANumber(float x) {
    return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u;
}
float withSign(float magnitude, float x) {
    return uintBitsToFloat((floatBitsToUint(magnitude) & 0x7fffffffu) | (floatBitsToUint(x) & 0x80000000u));
}
float power2(int n) {  // -126 .. 127
    return uintBitsToFloat(uint(n + 127) << 23);
}

// e^x = 2^n (1 + m). The argument is held where the result is a normal, finite number, as on the CPU.
float expParts(float x, out int n) {
    x = clamp(x, -87.33654, 88.72283);
    const float whole = roundEven(x * 1.44269504);
    n = int(whole);
    float r = x - whole * 0.693359375;
    r += whole * 2.12194440e-4;
    float p = 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    return p * r * r + r;
}
float expOf(float x) {
    int n;
    const float m = expParts(x, n);
    const float y = (m + 1.0) * power2(n >> 1) * power2(n - (n >> 1));
    return isNotANumber(x) ? x : y;
}
float expm1Of(float x) {
    int n;
    const float m = expParts(x, n);
    const float y = abs(x) < 0.34 ? m : (m + 1.0) * power2(n >> 1) * power2(n - (n >> 1)) - 1.0;
    return isNotANumber(x) ? x : y;
}

// x = 2^n (1 + f) for positive, finite x, with 1 + f between sqrt(1/2) and sqrt(2).
float logParts(float x, out int n) {
    uint bits = floatBitsToUint(x);
    n = -127;
    if (bits < 0x00800000u) {  // denormal
        bits = floatBitsToUint(float(bits));
        n = -127 - 149;
    }
    n += int(bits >> 23);
    float m = uintBitsToFloat((bits & 0x7fffffu) | 0x3f800000u);
    if (m > 1.41421356) {
        m *= 0.5;
        n += 1;
    }
    return m - 1.0;
}
float logTail(float s) {  // log((1 + s) / (1 - s)) - 2 s
    const float z = s * s;
    return s * z * ((0.295903176 * z + 0.399885505) * z + 0.666666865);
}
float logOf(float x) {
    if (x == 0.0) return -kInf;
    if (!(x > 0.0)) return kNaN;
    if (x == kInf) return x;
    int n;
    const float f = logParts(x, n);
    const float s = f / (2.0 + f);
    const float e = float(n);
    return e * 0.693115234375 + (s + s + (logTail(s) + e * 3.19461833e-05));
}
float log1pOf(float x) {
    precise float u = x + 1.0;
    precise float lost = x - (u - 1.0);  // what the addition rounded away
    const float y = logOf(u);
    return abs(x) < 0.9999 ? y + lost / u : y;
}

float sigmoidOf(float x) {
    return 1.0 / (1.0 + expOf(-x));
}
float siluOf(float x) {
    return x / (1.0 + expOf(-x));
}
float tanhOf(float x) {
    const float m = expm1Of(min(2.0 * abs(x), 20.0));
    return isNotANumber(x) ? x : withSign(m / (m + 2.0), x);
}
float sinhOf(float x) {
    const float a = abs(x);
    if (a > 88.0) {
        const float h = expOf(0.5 * a);
        return a > 89.5 ? x * kInf : withSign(0.5 * h * h, x);
    }
    const float m = expm1Of(a);
    return isNotANumber(x) ? x : withSign(0.5 * (m + m / (m + 1.0)), x);
}
float coshOf(float x) {
    const float a = abs(x);
    const float h = expOf(0.5 * a);
    if (a > 88.0) return a > 89.5 ? kInf : 0.5 * h * h;
    const float e = expOf(a);
    return 0.5 * e + 0.5 / e;
}
float asinhOf(float x) {
    const float a = abs(x);
    if (a > 1e9) return withSign(logOf(a) + 0.693147181, x);
    return isNotANumber(x) ? x : withSign(log1pOf(a + a * a / (1.0 + sqrt(a * a + 1.0))), x);
}
float acoshOf(float x) {
    if (!(x >= 1.0)) return kNaN;
    if (x > 1e9) return logOf(x) + 0.693147181;
    const float t = x - 1.0;
    return log1pOf(t + sqrt(t * (t + 2.0)));
}
float atanhOf(float x) {
    const float a = abs(x);
    if (!(a <= 1.0)) return kNaN;
    return withSign(a == 1.0 ? kInf : 0.5 * log1pOf(2.0 * a / (1.0 - a)), x);
}

// erf below 0.92 as x + x p(x^2), above as 1 - e^q(x).
float erfSmall(float x) {
    const float s = x * x;
    float p = -0.00058824959;
    p = p * s + 0.00497201597;
    p = p * s - 0.0267523583;
    p = p * s + 0.112814315;
    p = p * s - 0.376124591;
    p = p * s + 0.128379151;
    return p * x + x;
}
float erfcLarge(float t) {  // 0.9 <= t
    t = min(t, 6.0);
    float p = 1.42505462e-06;
    p = p * t - 4.18774689e-05;
    p = p * t + 0.000561843102;
    p = p * t - 0.00459798519;
    p = p * t + 0.0259707104;
    p = p * t - 0.10930685;
    p = p * t - 0.632622957;
    p = p * t - 1.12978327;
    p = p * t + 0.000213403342;
    return expOf(p);
}
float erfOf(float x) {
    const float t = abs(x);
    const float y = t < 0.92 ? erfSmall(x) : withSign(1.0 - erfcLarge(t), x);
    return isNotANumber(x) ? x : y;
}
float erfcOf(float x) {
    const float t = abs(x);
    const float tail = t < 0.92 ? 1.0 - erfSmall(t) : erfcLarge(t);
    const float y = x < 0.0 ? (t < 0.92 ? 1.0 + erfSmall(t) : 2.0 - tail) : tail;
    return isNotANumber(x) ? x : y;
}
// x/2 (1 + erf(x/sqrt 2)); the negative tail through erfc, so that nothing cancels.
float geluOf(float x) {
    const float z = x * 0.707106781;
    const float t = abs(z);
    const float tail = erfcLarge(t);
    return x * 0.5 * (t < 0.92 ? 1.0 + erfSmall(z) : x < 0.0 ? tail : 2.0 - tail);
}
// x/2 (1 + tanh u) is x sigmoid(2u).
float geluTanhOf(float x) {
    return x / (1.0 + expOf((x * x * x * 0.044715 + x) * -1.59576912));
}
// The inverse of erf after Giles; both ends give the largest float, as on the CPU.
float erfinvOf(float x) {
    if (abs(x) == 1.0) return 3.40282347e38;
    float w = -logOf((1.0 - x) * (1.0 + x));
    float p;
    if (w < 5.0) {
        w -= 2.5;
        p = 2.81022636e-08;
        p = p * w + 3.43273939e-07;
        p = p * w - 3.5233877e-06;
        p = p * w - 4.39150654e-06;
        p = p * w + 0.00021858087;
        p = p * w - 0.00125372503;
        p = p * w - 0.00417768164;
        p = p * w + 0.246640727;
        p = p * w + 1.50140941;
    } else {
        w = sqrt(w) - 3.0;
        p = -0.000200214257;
        p = p * w + 0.000100950558;
        p = p * w + 0.00134934322;
        p = p * w - 0.00367342844;
        p = p * w + 0.00573950773;
        p = p * w - 0.0076224613;
        p = p * w + 0.00943887047;
        p = p * w + 1.00167406;
        p = p * w + 2.83297682;
    }
    return p * x;
}

// a = quadrant pi/2 + r for a >= 0, |r| <= pi/4. Small angles by subtraction, large ones by the bits of 2/pi that
// matter.
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
    // Two bits of quadrants, then the fraction: as a signed number it is the distance to the nearest one.
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
bool endless(float x) {
    return (floatBitsToUint(x) & 0x7fffffffu) >= 0x7f800000u;
}
float sinOf(float x) {
    if (endless(x)) return kNaN;
    uint quadrant;
    const float r = quarterTurns(abs(x), quadrant);
    float y = (quadrant & 1u) == 0u ? sinPart(r) : cosPart(r);
    y = (quadrant & 2u) == 0u ? y : -y;
    return x < 0.0 ? -y : y;
}
float cosOf(float x) {
    if (endless(x)) return kNaN;
    uint quadrant;
    const float r = quarterTurns(abs(x), quadrant);
    const float y = (quadrant & 1u) == 0u ? cosPart(r) : sinPart(r);
    return ((quadrant + 1u) & 2u) == 0u ? y : -y;
}
float tanOf(float x) {
    if (endless(x)) return kNaN;
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

// a modulo b with the sign of a, exact: eight bits of the quotient at a time.
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
    if ((floatBitsToUint(b) & 0x7fffffffu) == 0x7f800000u) return kNaN;  // 0 times infinity
    const float r = remainderOf(a, b);
    return r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r;
}
// The rounding error of p = a b, without relying on a fused multiply-add.
float productError(float a, float b, float p) {
    const float ah = uintBitsToFloat(floatBitsToUint(a) & 0xfffff000u);
    const float bh = uintBitsToFloat(floatBitsToUint(b) & 0xfffff000u);
    precise float al = a - ah;
    precise float bl = b - bh;
    precise float e = ah * bh - p;
    e = e + ah * bl;
    e = e + al * bh;
    e = e + al * bl;
    return e;
}
float floorDivOf(float a, float b) {
    float q = floor(a / b);
    if (!(abs(q) < 8388608.0) || endless(b)) return q;
    // The quotient may have been rounded across an integer, which the remainder a - q b shows.
    precise float p = q * b;
    precise float r = (a - p) - productError(q, b, p);
    if (r != 0.0 && (r < 0.0) != (b < 0.0))
        q -= 1.0;
    else if (abs(r) >= abs(b))
        q += 1.0;
    return q;
}

// x^y through a logarithm of twice the precision.
float powOf(float x, float y) {
    if (y == 0.0 || x == 1.0) return 1.0;
    if (isNotANumber(x) || isNotANumber(y)) return kNaN;
    const float a = abs(x);
    const bool whole = abs(y) >= 16777216.0 || floor(y) == y;
    const bool negative = floatBitsToUint(x) >= 0x80000000u && abs(y) < 16777216.0 && whole && (int(y) & 1) != 0;
    float result;
    if (endless(y)) {
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
