// The formulas of the unary float operators, by their codes: y = f(x, a, b). The includer defines USES_UNARY(code),
// false for codes that it never uses.
#include "math.glsl"
#include "math_error.glsl"
#include "math_trigonometry.glsl"

float softplusOf(float x) {
    return max(x, 0.0) + log1pOf(expOf(-abs(x)));
}
float squareRoot(float x) {
    return x < 0.0 ? kNaN : x == kInf ? x : sqrt(x);
}
// Codes behind those of UnaryOp (backends/vulkan/ops/unary.h): 35 ELU, 36 Threshold, 37 ReLU, 38 clamp.
#define UNARY(number, f)              \
    case number:                      \
        if (USES_UNARY(number)) y = f; \
        break;
vec4 unaryOf(uint code, vec4 x, float a, float b) {
    vec4 y = x;
    switch (code) {
        UNARY(0, abs(x))
        UNARY(1, -x)
        UNARY(2, floor(x))
        UNARY(3, ceil(x))
        UNARY(4, x * x)
        UNARY(5, EACH(squareRoot, x))
        UNARY(6, 1.0 / EACH(squareRoot, x))
        UNARY(7, EACH(expOf, x))
        UNARY(8, EACH(logOf, x))
        UNARY(9, EACH(sinOf, x))
        UNARY(10, EACH(cosOf, x))
        UNARY(11, EACH(tanOf, x))
        UNARY(12, EACH(asinOf, x))
        UNARY(13, EACH(acosOf, x))
        UNARY(14, EACH(atanOf, x))
        UNARY(15, 1.0 / x)
        UNARY(16, EACH(log1pOf, x))
        UNARY(17, EACH(softplusOf, x))
        UNARY(18, EACH(acoshOf, x))
        UNARY(19, EACH(sinhOf, x))
        UNARY(20, EACH(asinhOf, x))
        UNARY(21, EACH(atanhOf, x))
        UNARY(22, sign(x))
        UNARY(23, roundEven(x))
        UNARY(24, EACH(coshOf, x))
        UNARY(25, EACH(erfOf, x))
        UNARY(26, EACH(erfcOf, x))
        UNARY(27, EACH(erfinvOf, x))
        UNARY(28, EACH(expm1Of, x))
        UNARY(29, EACH(sigmoidOf, x))
        UNARY(30, EACH(tanhOf, x))
        UNARY(31, x * clamp(x + 3.0, 0.0, 6.0) / 6.0)
        UNARY(32, EACH(geluTanhOf, x))
        UNARY(33, EACH(geluOf, x))
        UNARY(34, EACH(siluOf, x))
        UNARY(35, b * mix(a * EACH(expm1Of, x), x, greaterThan(x, vec4(0))))
        UNARY(36, vec4(greaterThan(x, vec4(a))))
        UNARY(37, mix(x, a == 0 ? vec4(0) : x * a, lessThan(x, vec4(0))))  // 0 times -infinity is NaN
        UNARY(38, min(max(x, vec4(a)), vec4(b)))
    }
    return y;
}
