// variants: f32 f16
// Brings the weights of recurrent operators to one form: [direction][input or state k][unit][4], so that the values of
// a unit's gates are contiguous, and those of neighbouring units side by side. Gates: RNN x; LSTM i, o, f, c; GRU z, r
// and the candidate, which is the third value, or the fourth for rows from push.split on. Three gates are a GRU whose
// candidate is among them; its products with the state have push.split = 1 and are the fourth value.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const bool kGru = false;
layout(constant_id = 2) const uint kGates = 4;  // of other operators than GRU
// rows: values k of the source; first: the destination's first quad; step: rows of a direction in the destination.
PUSH(uint total; uint hidden; uint rows; uint first; uint step; uint split;);
layout(binding = 0) readonly buffer Source { ELEM source[]; };  // [direction][gate][unit][k], GRU [k][gate][unit]
layout(binding = 1) readonly buffer Candidate { ELEM candidate[]; };  // GRU: [k][unit]
layout(binding = 2) writeonly buffer Destination { ELEM4 destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.total) return;
    VALUE4 v = VALUE4(0);
    if (kGru) {
        const uint k = i / push.hidden, unit = i - k * push.hidden;
        const uint at = k * 2 * push.hidden + unit;
        v.x = VALUE(source[at]);
        v.y = VALUE(source[at + push.hidden]);
        const VALUE c = VALUE(candidate[i]);
        if (k < push.split)
            v.z = c;
        else
            v.w = c;
        destination[push.first + i] = ELEM4(v);
        return;
    }
    const uint line = i / push.rows, k = i - line * push.rows;
    const uint direction = line / push.hidden, unit = line - direction * push.hidden;
    for (uint gate = 0; gate < kGates; ++gate)
        v[gate] = VALUE(source[((direction * kGates + gate) * push.hidden + unit) * push.rows + k]);
    if (kGates == 3 && push.split == 1) v = VALUE4(v.x, v.y, 0, v.z);
    destination[push.first + (direction * push.step + k) * push.hidden + unit] = ELEM4(v);
}
