// variants: f32 f16
// Stores the states before the first step: given ones, or zeros. Areas of the states: see recurrent_step.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const bool kGiven = false;
layout(constant_id = 2) const bool kCell = false;  // LSTM
PUSH(uint area;);
layout(binding = 0) readonly buffer Hidden { ELEM hidden[]; };
layout(binding = 1) readonly buffer Cell { ELEM cell[]; };
layout(binding = 2) writeonly buffer State { float state[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.area) return;
    float h = 0.0, c = 0.0;
    if (kGiven) {
        h = float(hidden[i]);
        if (kCell) c = float(cell[i]);
    }
    state[i] = h;
    if (kCell) state[2 * push.area + i] = c;
}
