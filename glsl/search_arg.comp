// variants: f32 f16 i32
// The position of the largest or smallest element of a row: the first of equal ones; NaN never wins; 0 when no element
// wins.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

PUSH(uint rows; uint steps; uint inner;);
#include "rows.glsl"
layout(constant_id = 4) const bool kLargest = true;
layout(binding = 0) readonly buffer SourceQuads { ELEM4 sourceQuads[]; };
layout(binding = 0) readonly buffer Source { ELEM source[]; };
layout(binding = 1) writeonly buffer DestinationQuads { ivec4 destinationQuads[]; };
layout(binding = 1) writeonly buffer Destination { int destination[]; };
struct Best {
    VALUE4 value;
    uvec4 at;
};
shared Best part[gl_WorkGroupSize.x];

#ifdef INT
const VALUE kWorst = kLargest ? int(0x80000000u) : 0x7fffffff;
#else
const VALUE kWorst = kLargest ? -3.40282347e38 : 3.40282347e38;
#endif

Best better(Best a, Best b) {
    const bvec4 wins = kLargest ? greaterThan(b.value, a.value) : lessThan(b.value, a.value);
    const bvec4 ties = equal(b.value, a.value);
    for (uint lane = 0; lane < 4; ++lane)
        if (wins[lane] || (ties[lane] && b.at[lane] < a.at[lane])) {
            a.value[lane] = b.value[lane];
            a.at[lane] = b.at[lane];
        }
    return a;
}

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const uint lane = ROW_LANE, rowOfGroup = ROW_OF_GROUP, row = group * kRows + rowOfGroup;
    const uint base = ROW_BASE(row);
    const uint length = row < push.rows ? push.steps : 0;
    Best best = Best(VALUE4(kWorst), uvec4(0));
    for (uint k = lane; k < length; k += kLanes) {
        const uint at = base + k * push.inner;
        const VALUE4 x = kKind == 0 ? VALUE4(source[at]) : VALUE4(sourceQuads[at]);
        const bvec4 wins = kLargest ? greaterThan(x, best.value) : lessThan(x, best.value);
        best.value = mix(best.value, x, wins);
        best.at = mix(best.at, kKind == 1 ? k * 4 + uvec4(0, 1, 2, 3) : uvec4(k), wins);
    }
    REDUCE_ROW(best, part, better)
    if (kKind == 1) {
        best = better(best, Best(best.value.zwxy, best.at.zwxy));
        best = better(best, Best(best.value.yxwz, best.at.yxwz));
    }
    if (lane != 0 || row >= push.rows) return;
    if (kKind == 2)
        destinationQuads[row] = ivec4(best.at);
    else
        destination[row] = int(best.at.x);
}
