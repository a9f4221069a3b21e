// variants: f32 f16 i32
// y = condition ? a : b, each of one element or of the output's size. The condition is compared as bits: -0.0 is true.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

// Operands of one element; a condition of floats may have 16 bits each.
layout(constant_id = 1) const bool kOneCondition = false;
layout(constant_id = 2) const bool kHalfCondition = false;
layout(constant_id = 3) const bool kOneA = false;
layout(constant_id = 4) const bool kOneB = false;
PUSH(uint quads;);
layout(binding = 0) readonly buffer ConditionQuads { uvec4 conditionQuads[]; };
layout(binding = 0) readonly buffer ConditionPairs { uvec2 conditionPairs[]; };
layout(binding = 0) readonly buffer Condition { uint condition[]; };
layout(binding = 1) readonly buffer AQuads { ELEM4 aQuads[]; };
layout(binding = 1) readonly buffer A { ELEM aSingle[]; };
layout(binding = 2) readonly buffer BQuads { ELEM4 bQuads[]; };
layout(binding = 2) readonly buffer B { ELEM bSingle[]; };
layout(binding = 3) writeonly buffer Y { ELEM4 y[]; };

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.quads) return;
    uvec4 bits;
    if (kOneCondition) {
        bits = uvec4(kHalfCondition ? condition[0] & 0xffffu : condition[0]);
    } else if (kHalfCondition) {
        const uvec2 pairs = conditionPairs[i];
        bits = uvec4(pairs.x & 0xffffu, pairs.x >> 16, pairs.y & 0xffffu, pairs.y >> 16);
    } else {
        bits = conditionQuads[i];
    }
    const VALUE4 a = kOneA ? VALUE4(VALUE(aSingle[0])) : VALUE4(aQuads[i]);
    const VALUE4 b = kOneB ? VALUE4(VALUE(bSingle[0])) : VALUE4(bQuads[i]);
    y[i] = ELEM4(mix(b, a, notEqual(bits, uvec4(0))));
}
