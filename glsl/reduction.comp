// variants: f32 f16 i32 up down
// Does one reduction along rows. up and down: the first and the last of several, from and to 16-bit elements.
#version 440
#extension GL_GOOGLE_include_directive : require
#if defined(UP) || defined(DOWN)
#define HALF
#endif
#include "common.glsl"
#if defined(UP)
#define IN ELEM
#define IN4 ELEM4
#define OUT float
#define OUT4 vec4
#elif defined(DOWN)
#define IN float
#define IN4 vec4
#define OUT ELEM
#define OUT4 ELEM4
#else
#define IN ELEM
#define IN4 ELEM4
#define OUT ELEM
#define OUT4 ELEM4
#endif

PUSH(uint rows; uint steps; uint inner;);
#include "rows.glsl"
layout(constant_id = 4) const uint kOperation = 0;  // the values of Reduce
layout(binding = 0) readonly buffer SourceQuads { IN4 sourceQuads[]; };
layout(binding = 0) readonly buffer Source { IN source[]; };
layout(binding = 1) writeonly buffer DestinationQuads { OUT4 destinationQuads[]; };
layout(binding = 1) writeonly buffer Destination { OUT destination[]; };
shared VALUE4 part[gl_WorkGroupSize.x];

VALUE4 combine(VALUE4 a, VALUE4 b) {
    switch (kOperation) {
        case 4: return max(a, b);
        case 5: return min(a, b);
        case 6: return a * b;
#ifdef INT
        case 7: return a | b;
        case 8: return a & b;
#endif
        default: return a + b;
    }
}
VALUE4 load(uint at) {
    const VALUE4 x = kKind == 0 ? VALUE4(source[at]) : VALUE4(sourceQuads[at]);
#ifdef INT
    if (kOperation >= 7) return VALUE4(notEqual(x, VALUE4(0)));
#endif
    return x;
}

void main() {
    const uint group = GROUP_INDEX;
    if (group >= push.groups) return;
    const uint lane = ROW_LANE, rowOfGroup = ROW_OF_GROUP, row = group * kRows + rowOfGroup;
    const uint base = ROW_BASE(min(row, push.rows - 1));
    const uint length = row < push.rows ? push.steps : 0;

    // Lanes beyond the steps repeat the first one where that does not change the result.
    VALUE4 total = VALUE4(0);
    if (kOperation == 4 || kOperation == 5 || kOperation >= 7) total = load(base);
    if (kOperation == 6) total = VALUE4(1);
    // The sum is taken in runs, so that the error of long sums stays small.
    for (uint first = lane; first < length; first += kLanes * 64) {
        VALUE4 run = load(base + first * push.inner);
        const uint end = min(length, first + kLanes * 64);
        for (uint k = first + kLanes; k < end; k += kLanes) run = combine(run, load(base + k * push.inner));
        total = combine(total, run);
    }
    REDUCE_ROW(total, part, combine)
    if (kKind == 1) {
        const VALUE4 pair = combine(total, total.zwxy);
        total = combine(pair, pair.yxwz);
    }
    if (kOperation == 3) total /= VALUE(push.steps * (kKind == 1 ? 4 : 1));
    if (lane != 0 || row >= push.rows) return;
    if (kKind == 2)
        destinationQuads[row] = OUT4(total);
    else
        destination[row] = OUT(total.x);
}
