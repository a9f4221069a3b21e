// The error function, its complement, its inverse, and GELU (the rules of math.glsl).
#ifndef MATH_ERROR_GLSL
#define MATH_ERROR_GLSL
#include "math.glsl"

// erf is x + x p(x^2) below 0.92 and 1 - e^q(x) above.
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
// GELU (Hendrycks and Gimpel, arXiv 1606.08415): x/2 (1 + erf(x/sqrt 2)). The negative tail uses erfc, so that no
// digits cancel; below -9, where GELU is nearly zero, erfcLarge() is constant, and x itself would show.
float geluOf(float x) {
    const float held = x < -9.0 ? -9.0 : x;
    const float z = held * 0.707106781;
    const float t = abs(z);
    const float tail = erfcLarge(t);
    return held * 0.5 * (t < 0.92 ? 1.0 + erfSmall(z) : x < 0.0 ? tail : 2.0 - tail);
}
// The inverse of erf (Giles, "Approximating the erfinv function", GPU Computing Gems Jade Edition, 2012); both ends
// give the largest float, as on the CPU.
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
#endif
