// variants: f32 f16 i32
// UnaryOp by code, and the activations of unary.glsl, over whole quads of the storage.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

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
#define USES_UNARY(code) true
#include "unary.glsl"
VALUE4 apply(VALUE4 x) {
    return unaryOf(kCode, x, push.a, push.b);
}
#endif

void main() {
    const uint i = ELEMENT_INDEX;
    if (i < push.quads) destination[i] = ELEM4(apply(VALUE4(source[i])));
}
