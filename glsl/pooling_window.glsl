// Push words and positions that the pooling kernels share; included after common.glsl. Axes are depth, height, width.
PUSH(uint quads; uint counted; int inSize[3]; int outSize[3]; int window[3]; int stride[3]; int begin[3]; int end[3];);

// Returns the taps [first, last) inside the plane of output position `o` on an axis. The maximum of an empty window is
// the nearest edge.
ivec2 taps(int axis, int o, bool average) {
    const int from = o * push.stride[axis] - push.begin[axis];
    ivec2 span = clamp(ivec2(from, from + push.window[axis]), 0, push.inSize[axis]);
    if (!average && span.x >= span.y) {
        span.x = clamp(from, 0, push.inSize[axis] - 1);
        span.y = span.x + 1;
    }
    return span;
}

// Returns the number of taps that an average counts at this position. Bit `axis` of `counted` says that padding counts.
int tapCount(int axis, int o) {
    const int from = o * push.stride[axis] - push.begin[axis];
    const int to = from + push.window[axis];
    if ((push.counted >> axis & 1u) != 0) return max(0, min(to, push.inSize[axis] + push.end[axis]) - from);
    return max(0, min(to, push.inSize[axis]) - max(from, 0));
}

// Returns the position of output quad i: depth, height, width, and the channel block counted over all batches.
ivec4 outputAt(uint i) {
    const uint x = i % uint(push.outSize[2]);
    i /= uint(push.outSize[2]);
    const uint y = i % uint(push.outSize[1]);
    i /= uint(push.outSize[1]);
    const uint z = i % uint(push.outSize[0]);
    return ivec4(z, y, x, i / uint(push.outSize[0]));
}

// Returns the index of the first quad of row (block, z, y) of the source.
int rowAt(int block, int z, int y) {
    return ((block * push.inSize[0] + z) * push.inSize[1] + y) * push.inSize[2];
}
