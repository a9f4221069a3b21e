// variants: f32 f16
// Values of a channel-packed picture or volume at the positions that a row-major grid of (x, y) or (x, y, z) gives: one
// quad of channels per invocation. Positions are computed as on the CPU, operation by operation, because rounding
// decides which element is the nearest.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "math.glsl"

layout(constant_id = 1) const uint kAxes = 2;
layout(constant_id = 2) const bool kNearest = false;
layout(constant_id = 3) const uint kPadding = 0;  // 0: zeros, 1: the border, 2: reflection
layout(constant_id = 4) const bool kAlignCorners = false;
// plane: outputs of a plane; blocks: blocks of channels; inPlane: elements of an input plane; extent: of x, y, z.
PUSH(uint quads; uint plane; uint blocks; uint inPlane; int extent[3];);
layout(binding = 0) readonly buffer Source { ELEM4 source[]; };
layout(binding = 1) readonly buffer Grid { float grid[]; };
layout(binding = 2) writeonly buffer Destination { ELEM4 destination[]; };

// One or two neighbours along an axis; a weight is 0 outside.
struct Taps {
    uint index[2];
    float weight[2];
    bool inside[2];
};

bool finite(float x) {
    return (floatBitsToUint(x) & 0x7fffffffu) < 0x7f800000u;
}

// Reflects c at `low` and low + span until it lies between them.
float reflected(float c, float low, float span) {
    if (span <= 0.0) return 0.0;
    const float distance_ = abs(c - low);
    const float flips = floor(distance_ / span);
    precise float turned = flips * span;
    precise float rest = distance_ - turned;
    const float half_ = flips * 0.5;
    precise float back = span - rest;
    precise float place = (floor(half_) == half_ ? rest : back) + low;
    return place;
}

// Returns the position on an axis for grid coordinate g: finite, at most two elements outside of the axis.
float position(float g, float extent) {
    const float last = extent - 1.0;
    if (isNotANumber(g)) g = -1.0;
    const bool isInfinite = !finite(g);
    if (isInfinite && kPadding == 0) return -2.0;
    if (isInfinite && kPadding == 1) return g > 0.0 ? last : 0.0;
    precise float c = g + 1.0;
    if (kAlignCorners) {
        c = c * 0.5;
        c = c * last;
    } else {
        c = c * extent;
        c = c - 1.0;
        c = c * 0.5;
    }
    if (kPadding == 0) return clamp(c, -2.0, extent + 1.0);
    if (kPadding == 2) {
        if (!finite(c)) return 0.0;
        c = kAlignCorners ? reflected(c, 0.0, last) : reflected(c, -0.5, extent);
        if (!finite(c)) return 0.0;
    }
    return clamp(c, 0.0, last);
}

Taps tapsOf(float g, int extent) {
    const float c = position(g, float(extent));
    const float base = kNearest ? roundEven(c) : floor(c);
    const float part = c - base;
    const int first = int(base);
    Taps taps;
    for (int t = 0; t < 2; ++t) {
        taps.inside[t] = first + t >= 0 && first + t < extent;
        taps.index[t] = uint(clamp(first + t, 0, extent - 1));
        taps.weight[t] = kNearest ? 1.0 : t == 0 ? 1.0 - part : part;
    }
    return taps;
}

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.quads) return;
    const uint block = i / push.plane;
    const uint row = (block / push.blocks * push.plane + i - block * push.plane) * kAxes;
    const uint each = kNearest ? 1 : 2;
    const Taps x = tapsOf(grid[row], push.extent[0]);
    const Taps y = tapsOf(grid[row + 1], push.extent[1]);
    Taps z = Taps(uint[2](0, 0), float[2](1, 0), bool[2](true, false));
    if (kAxes == 3) z = tapsOf(grid[row + 2], push.extent[2]);
    VALUE4 total = VALUE4(0);
    for (uint c = 0; c < (kAxes == 3 ? each : 1); ++c)
        for (uint b = 0; b < each; ++b)
            for (uint a = 0; a < each; ++a) {
                if (!(z.inside[c] && y.inside[b] && x.inside[a])) continue;
                const uint at = (z.index[c] * uint(push.extent[1]) + y.index[b]) * uint(push.extent[0]) + x.index[a];
                total += VALUE4(source[block * push.inPlane + at]) * (z.weight[c] * y.weight[b] * x.weight[a]);
            }
    destination[i] = ELEM4(total);
}
