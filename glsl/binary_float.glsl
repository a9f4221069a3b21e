// The formulas of the binary operators from floats to floats, by their codes. The includer defines USES_BINARY(code),
// false for codes that it never uses.
#include "math.glsl"
#include "math_power.glsl"
#include "math_trigonometry.glsl"

#define EACH2(f) vec4(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w))
#define BINARY(number, f)               \
    case number:                        \
        if (USES_BINARY(number)) y = f; \
        break;
vec4 binaryOf(uint code, vec4 a, vec4 b) {
    vec4 y = a;
    switch (code) {
        BINARY(0, a + b)
        BINARY(1, a - b)
        BINARY(2, a * b)
        BINARY(6, EACH2(powOf))
        BINARY(7, a / b)
        BINARY(8, min(a, b))
        BINARY(9, max(a, b))
        BINARY(13, EACH2(floorDivOf))
        BINARY(14, (a - b) * (a - b))
        BINARY(17, EACH2(floorModOf))
        BINARY(19, EACH2(remainderOf))
        BINARY(20, EACH2(atan2Of))
        BINARY(29, a * EACH(siluOf, b))
    }
    return y;
}
