// variants: f32 f16
// Keeps a band of every matrix, by multiplying with 1 or 0, so that NaN stays NaN outside of the band.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

PUSH(uint total; uint rows; uint columns;);
layout(binding = 0) readonly buffer Source { ELEM source[]; };
layout(binding = 1) readonly buffer Lower { int lower[]; };
layout(binding = 2) readonly buffer Upper { int upper[]; };
layout(binding = 3) writeonly buffer Destination { ELEM destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.total) return;
    const uint line = i / push.columns;
    const int below = int(line % push.rows) - int(i - line * push.columns);
    const bool inside = (lower[0] < 0 || below <= lower[0]) && (upper[0] < 0 || -below <= upper[0]);
    destination[i] = ELEM(VALUE(source[i]) * (inside ? 1.0 : 0.0));
}
