// variants: f32 f16
// Computes the gates of one step of LSTMBlockCell and all its results from the sums of recurrent_block_sums: one unit
// of a row per invocation.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "math.glsl"

layout(constant_id = 1) const bool kPeephole = false;
layout(constant_id = 2) const uint kResults = 7;  // the number of results that are written, from the first on

PUSH(uint total; uint hidden; float forgetBias; float clip;);  // clip: 0 for none
layout(binding = 0) readonly buffer Sums { vec4 sums[]; };
layout(binding = 1) readonly buffer State { ELEM state[]; };
layout(binding = 2) readonly buffer ToInput { ELEM toInput[]; };
layout(binding = 3) readonly buffer ToForget { ELEM toForget[]; };
layout(binding = 4) readonly buffer ToOutput { ELEM toOutput[]; };
layout(binding = 5) writeonly buffer Input { ELEM inputGate[]; };
layout(binding = 6) writeonly buffer Cell { ELEM cell[]; };
layout(binding = 7) writeonly buffer Forget { ELEM forgetGate[]; };
layout(binding = 8) writeonly buffer Output { ELEM outputGate[]; };
layout(binding = 9) writeonly buffer Candidate { ELEM candidate[]; };
layout(binding = 10) writeonly buffer CellOutput { ELEM cellOutput[]; };
layout(binding = 11) writeonly buffer Result { ELEM result[]; };

void main() {
    const uint at = ELEMENT_INDEX;
    if (at >= push.total) return;
    const uint unit = at % push.hidden;
    const float before = float(state[at]);
    vec4 sum = sums[at];
    sum.z += push.forgetBias;
    if (kPeephole) {
        sum.x += before * float(toInput[unit]);
        sum.z += before * float(toForget[unit]);
    }
    const float i = sigmoidOf(sum.x), ci = tanhOf(sum.y), f = sigmoidOf(sum.z);
    const float limit = push.clip > 0.0 ? push.clip : kInf, whole = ci * i + before * f;
    const float now = isNotANumber(whole) ? whole : clamp(whole, -limit, limit);
    // The cell is stored before it is used again: otherwise lavapipe of Mesa 22.3 gives denormal numbers for co.
    if (kResults > 1) cell[at] = ELEM(now);
    if (kPeephole) sum.w += now * float(toOutput[unit]);
    const float o = sigmoidOf(sum.w), co = tanhOf(now);
    inputGate[at] = ELEM(i);
    if (kResults > 2) forgetGate[at] = ELEM(f);
    if (kResults > 3) outputGate[at] = ELEM(o);
    if (kResults > 4) candidate[at] = ELEM(ci);
    if (kResults > 5) cellOutput[at] = ELEM(co);
    if (kResults > 6) result[at] = ELEM(co * o);
}
