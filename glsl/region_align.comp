// variants: f32 f16
// ROIAlign on channel-packed pictures: the average or the maximum of samples between the pixels, one output quad per
// invocation. Samples are placed as on the CPU, operation by operation, because rounding decides how many there are and
// whether one is inside. A maximum is taken over the weighted pixels around all samples.
#version 440
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "math.glsl"
#include "region.glsl"

// Regions have four numbers, and their pictures are apart; otherwise each region begins with its picture.
layout(constant_id = 1) const bool kIndexed = false;
layout(constant_id = 2) const bool kAligned = false;
layout(constant_id = 3) const bool kMaximum = false;
PUSH(uint quads; uint rows; uint columns; uint blocks; int height; int width; int pictures; uint samples; float scale;);
layout(binding = 0) readonly buffer Source { ELEM4 source[]; };
layout(binding = 1) readonly buffer Regions { float regions[]; };
layout(binding = 2) readonly buffer Indices { int indices[]; };
layout(binding = 3) writeonly buffer Destination { ELEM4 destination[]; };

// The samples of one output along an axis; those from begin to end can be inside.
struct Samples {
    float origin, size, count;  // count: 0 when there is none
    uint begin, end;
    int pixels;
};

// Two neighbouring pixels and their weights.
struct Neighbours {
    int low, high;
    float lowWeight, highWeight;
};

bool finite(float x) {
    return (floatBitsToUint(x) & 0x7fffffffu) < 0x7f800000u;
}

Samples samplesOf(float start, float extent, uint output_, uint outputs, int pixels) {
    Samples s = Samples(0.0, 0.0, 0.0, 0, 0, pixels);
    const float size = quotient(extent, float(outputs));
    if (!finite(size) || !finite(start)) return s;
    precise float moved = float(output_) * size;
    precise float origin = start + moved;
    const float wanted = push.samples > 0 ? float(push.samples) : ceil(size);
    if (!finite(origin) || !(wanted >= 1.0)) return s;
    s.origin = origin;
    s.size = size;
    s.count = wanted;
    if (push.samples > 0) {
        s.end = push.samples;
        return s;
    }
    // In such a large region, neighbouring floats at its edge lie further apart than the picture: no sample is inside.
    if (wanted > 1073741824.0) return s;
    const float step_ = size / wanted;
    s.begin = uint(clamp((-1.0 - origin) / step_ - 2.0, 0.0, wanted));
    s.end = uint(clamp((float(pixels) - origin) / step_ + 2.0, 0.0, wanted));
    return s;
}

bool sampleAt(Samples s, uint k, out Neighbours n) {
    precise float inner = float(k) + 0.5;
    precise float scaled = inner * s.size;
    precise float place = s.origin + quotient(scaled, s.count);
    n = Neighbours(s.pixels - 1, s.pixels - 1, 1.0, 0.0);
    if (!finite(place) || place < -1.0 || place > float(s.pixels)) return false;
    place = max(place, 0.0);
    if (int(place) >= s.pixels - 1) return true;
    n.low = int(place);
    n.high = n.low + 1;
    n.highWeight = place - float(n.low);
    n.lowWeight = 1.0 - n.highWeight;
    return true;
}

float atLeastOne(float x) {
    return isNotANumber(x) ? x : max(x, 1.0);
}

void main() {
    const uint i = ELEMENT_INDEX;
    if (i >= push.quads) return;
    uint rest = i / push.columns;
    const uint column = i - rest * push.columns;
    const uint row = rest % push.rows;
    rest /= push.rows;
    const uint region = rest / push.blocks, block = rest - region * push.blocks;
    const uint box = kIndexed ? region * 4 : region * 5 + 1;

    int picture = -1;
    if (kIndexed) {
        if (isPicture(indices[region], push.pictures)) picture = indices[region];
    } else if (isPicture(regions[box - 1], push.pictures)) {
        picture = int(regions[box - 1]);
    }

    const float offset = kAligned ? 0.5 : 0.0;
    precise float edges[4];
    for (uint k = 0; k < 4; ++k) {
        precise float scaled = regions[box + k] * push.scale;
        edges[k] = scaled - offset;
    }
    precise float width = edges[2] - edges[0];
    precise float height = edges[3] - edges[1];
    if (!kAligned) {
        width = atLeastOne(width);
        height = atLeastOne(height);
    }
    Samples down = samplesOf(edges[1], height, row, push.rows, push.height);
    const Samples across = samplesOf(edges[0], width, column, push.columns, push.width);
    const float samples = down.count * across.count;
    if (picture < 0) down.begin = down.end = 0;  // region_check reports it
    const uint base = (uint(max(picture, 0)) * push.blocks + block) * uint(push.height * push.width);

    float inside = 0.0;
    VALUE4 total = VALUE4(kMaximum && samples > 0.0 ? -kInf : 0.0);
    for (uint a = down.begin; a < down.end; ++a) {
        Neighbours y;
        if (!sampleAt(down, a, y)) continue;
        for (uint b = across.begin; b < across.end; ++b) {
            Neighbours x;
            if (!sampleAt(across, b, x)) continue;
            const uint low = base + uint(y.low * push.width), high = base + uint(y.high * push.width);
            const VALUE4 v0 = VALUE4(source[low + uint(x.low)]) * (y.lowWeight * x.lowWeight);
            const VALUE4 v1 = VALUE4(source[low + uint(x.high)]) * (y.lowWeight * x.highWeight);
            const VALUE4 v2 = VALUE4(source[high + uint(x.low)]) * (y.highWeight * x.lowWeight);
            const VALUE4 v3 = VALUE4(source[high + uint(x.high)]) * (y.highWeight * x.highWeight);
            total = kMaximum ? max(total, max(max(v0, v1), max(v2, v3))) : total + ((v0 + v1) + (v2 + v3));
            inside += 1.0;
        }
    }
    // A sample outside has the value 0.
    if (kMaximum)
        total = inside < samples ? max(total, VALUE4(0)) : total;
    else if (samples > 0.0)
        total = total / samples;
    destination[i] = ELEM4(total);
}
