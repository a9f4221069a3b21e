// Returns the places of the operands of product `p` of a batch: up to four broadcast axes, innermost last. Included
// after the push words, which hold batchAxes, batchSize[4], batchA[4] and batchB[4].
uvec2 operandsOf(uint p) {
    uvec2 at = uvec2(0);
    for (uint axis = push.batchAxes; axis > 0;) {
        --axis;
        const uint position = p % push.batchSize[axis];
        p /= push.batchSize[axis];
        at += position * uvec2(push.batchA[axis], push.batchB[axis]);
    }
    return at;
}
