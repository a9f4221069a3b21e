// Functions of floats, as exact as the CPU's (about 1e-7 relative). Vulkan allows larger errors (Vulkan specification,
// "Precision of Individual Operations"): 2^-11 for sin and cos, 4096 ulp for atan. `precise` keeps drivers from
// simplifying the terms that compute rounding errors. e^x is Taylor's series after Cody and Waite's reduction by ln 2
// (Software Manual for the Elementary Functions, 1980); other polynomials were fitted for this project where no source
// is named. This file has exponentials, logarithms and functions built from them; math_error.glsl,
// math_trigonometry.glsl and math_power.glsl have the others.
#ifndef MATH_GLSL
#define MATH_GLSL
#define EACH(f, v) vec4(f(v.x), f(v.y), f(v.z), f(v.w))
#define kInf uintBitsToFloat(0x7f800000u)
#define kNaN uintBitsToFloat(0x7fc00000u)

bool isNotANumber(float x) {
    return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u;
}
float withSign(float magnitude, float x) {
    return uintBitsToFloat((floatBitsToUint(magnitude) & 0x7fffffffu) | (floatBitsToUint(x) & 0x80000000u));
}
bool isInfiniteOrNaN(float x) {
    return (floatBitsToUint(x) & 0x7fffffffu) >= 0x7f800000u;
}
float power2(int n) {  // -126 .. 127
    return uintBitsToFloat(uint(n + 127) << 23);
}

// e^x = 2^n (1 + m). The argument is limited to the range where the result is a normal, finite number, as on the CPU.
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
    precise float lost = x - (u - 1.0);  // the part that the addition rounded away
    const float y = logOf(u);
    return abs(x) < 0.9999 ? y + lost / u : y;
}

float sigmoidOf(float x) {
    return 1.0 / (1.0 + expOf(-x));
}
// expOf() is finite: below these arguments, where the results are about -1e-36, x itself would show.
float siluOf(float x) {
    const float held = x < -87.3 ? -87.3 : x;
    return held / (1.0 + expOf(-held));
}
// GELU by tanh (Hendrycks and Gimpel, arXiv 1606.08415, section 2): x/2 (1 + tanh u) equals x sigmoid(2u).
float geluTanhOf(float x) {
    const float held = x < -20.0 ? -20.0 : x;
    return held / (1.0 + expOf((held * held * held * 0.044715 + held) * -1.59576912));
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
// Returns the rounding error of p = a b without a fused multiply-add (Dekker, "A floating-point technique for extending
// the available precision", 1971).
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

// Returns a / b, correctly rounded: Vulkan allows an error of 2.5 ulp, which changes a ceiling or a comparison.
float quotient(float a, float b) {
    precise float q = a / b;
    precise float p = q * b;
    precise float rest = (a - p) - productError(q, b, p);
    precise float exact = q + rest / b;
    return isInfiniteOrNaN(exact) ? q : exact;
}
#endif
