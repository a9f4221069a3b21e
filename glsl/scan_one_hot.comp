// variants: f32 f16 i32
// Indices [outer][inner] -> [outer][depth][inner]: the on value where the index is the position, the off value
// elsewhere. With fromEnd negative indices count from the end.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

PUSH(uint total; uint depth; uint inner; uint fromEnd;);
layout(binding = 0) readonly buffer Indices { int indices[]; };
layout(binding = 1) readonly buffer On { ELEM on[]; };
layout(binding = 2) readonly buffer Off { ELEM off[]; };
layout(binding = 3) writeonly buffer Destination { ELEM destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.total) return;
    const uint line = i / push.inner;
    const uint outer = line / push.depth;
    int index = indices[outer * push.inner + (i - line * push.inner)];
    if (index < 0 && push.fromEnd != 0) index += int(push.depth);
    const bool here = index == int(line - outer * push.depth);
    destination[i] = ELEM(here ? VALUE(on[0]) : VALUE(off[0]));
}
