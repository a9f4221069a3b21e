// variants: f32 f16 i32
// Every channel of a packed output is a whole channel of one of up to four packed inputs, or zero: one output quad per
// invocation.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

PUSH(uint quads; uint plane;);
// The place of the first element of each lane's channel. `inputs`: four bits per lane with the number of its input (15:
// none); bit 16: the quad is a whole quad of lane 0's input.
struct Quad {
    uint inputs;
    uint first[4];
};
layout(binding = 0) writeonly buffer Destination { ELEM4 destination[]; };
layout(binding = 1) readonly buffer Table { Quad table[]; };
layout(binding = 2) readonly buffer Source0 { ELEM source0[]; };
layout(binding = 3) readonly buffer Source1 { ELEM source1[]; };
layout(binding = 4) readonly buffer Source2 { ELEM source2[]; };
layout(binding = 5) readonly buffer Source3 { ELEM source3[]; };
layout(binding = 2) readonly buffer Source40 { ELEM4 quads0[]; };
layout(binding = 3) readonly buffer Source41 { ELEM4 quads1[]; };
layout(binding = 4) readonly buffer Source42 { ELEM4 quads2[]; };
layout(binding = 5) readonly buffer Source43 { ELEM4 quads3[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.quads) return;
    const uint block = i / push.plane;
    const uint pixel = i - block * push.plane;
    const uint inputs = table[block].inputs;
    VALUE4 value = VALUE4(0);
    if ((inputs & 0x10000u) != 0) {
        const uint at = table[block].first[0] / 4 + pixel;
        switch (inputs & 15u) {
            case 0: value = VALUE4(quads0[at]); break;
            case 1: value = VALUE4(quads1[at]); break;
            case 2: value = VALUE4(quads2[at]); break;
            default: value = VALUE4(quads3[at]); break;
        }
    } else {
        for (uint lane = 0; lane < 4; ++lane) {
            const uint at = table[block].first[lane] + pixel * 4;
            switch (inputs >> (4 * lane) & 15u) {
                case 0: value[lane] = VALUE(source0[at]); break;
                case 1: value[lane] = VALUE(source1[at]); break;
                case 2: value[lane] = VALUE(source2[at]); break;
                case 3: value[lane] = VALUE(source3[at]); break;
                default: break;
            }
        }
    }
    destination[i] = ELEM4(value);
}
