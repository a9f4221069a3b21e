// variants: f32 f16 i32
// Converts to int32: rounds towards zero, and values that do not fit become the smallest int32 as on x86. With kBool it
// gives 1 where the value is not zero; floats are compared by their bits, because a device may take subnormal numbers
// for zeros and has no rule for NaN.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const bool kBool = false;
PUSH(uint quads;);
layout(binding = 0) readonly buffer Source { ELEM4 source[]; };
layout(binding = 1) writeonly buffer Destination { ivec4 destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.quads) return;
    const VALUE4 x = VALUE4(source[i]);
#ifdef INT
    destination[i] = kBool ? ivec4(notEqual(x, ivec4(0))) : x;
#else
    if (kBool) {
        destination[i] = ivec4(notEqual(floatBitsToUint(x) & uvec4(0x7fffffffu), uvec4(0)));
    } else {
        const bvec4 above = greaterThanEqual(x, vec4(-2147483648.0)), below = lessThan(x, vec4(2147483648.0));
        ivec4 y;
        for (uint lane = 0; lane < 4; ++lane)
            y[lane] = above[lane] && below[lane] ? int(x[lane]) : int(0x80000000u);
        destination[i] = y;
    }
#endif
}
