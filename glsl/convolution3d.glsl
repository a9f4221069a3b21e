// Code that both kernels of 3-D convolutions share: push words, places along an axis. Axes are depth, height, width.
layout(constant_id = 1) const bool kTransposed = false;
layout(constant_id = 2) const uint kPostOps = 0;
layout(constant_id = 3) const uint kPixels = 1;  // pixels of an invocation, push.strip apart

PUSH(uint total; uint strip; uint blocks; uint inBlocks; uint channels; uint groupIn; uint groupOut; int kernel[3];
     int extent[3]; int outExtent[3]; int stride[3]; int begin[3]; int dilate[3]; float low; float high;);

// Returns the place that tap k of output o reads on an axis; negative: none.
int place(int o, int k, uint axis) {
    int at = kTransposed ? o + push.begin[axis] - k * push.dilate[axis]
                         : o * push.stride[axis] - push.begin[axis] + k * push.dilate[axis];
    if (kTransposed) {
        if (at < 0 || at % push.stride[axis] != 0) return -1;
        at /= push.stride[axis];
    }
    return at < push.extent[axis] ? at : -1;
}

// Returns depth, row and column of an output pixel.
ivec3 outputPlace(uint pixel) {
    const uint line = pixel / uint(push.outExtent[2]);
    const uint slice = line / uint(push.outExtent[1]);
    return ivec3(slice, line - slice * uint(push.outExtent[1]), pixel - line * uint(push.outExtent[2]));
}
