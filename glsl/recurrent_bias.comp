// variants: f32 f16
// Stores the biases of recurrent operators as [direction][unit][4], in the order of recurrent_pack's gates.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const bool kGru = false;
layout(constant_id = 2) const uint kGates = 4;           // of other operators than GRU
layout(constant_id = 3) const bool kResetAfter = false;  // GRU
layout(constant_id = 4) const bool kTogether = false;    // GRU: the candidate is the third of the gates
PUSH(uint total; uint hidden; uint first;);
layout(binding = 0) readonly buffer Gates { ELEM gates[]; };          // [direction][gate][unit]
layout(binding = 1) readonly buffer Candidate { ELEM candidate[]; };  // GRU: [unit]
layout(binding = 2) readonly buffer Own { ELEM own[]; };              // GRU: of the recurrent products, [3][unit]
layout(binding = 3) writeonly buffer Destination { vec4 destination[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.total) return;
    vec4 v = vec4(0);
    if (kGru) {
        const float last = float(own[2 * push.hidden + i]);
        v.x = float(gates[i]) + float(own[i]);
        v.y = float(gates[push.hidden + i]) + float(own[push.hidden + i]);
        v.z = kTogether ? float(gates[2 * push.hidden + i]) : float(candidate[i]);
        if (kResetAfter)
            v.w = last;
        else
            v.z += last;
    } else {
        const uint direction = i / push.hidden, unit = i - direction * push.hidden;
        for (uint gate = 0; gate < kGates; ++gate)
            v[gate] = float(gates[(direction * kGates + gate) * push.hidden + unit]);
    }
    destination[push.first + i] = v;
}
