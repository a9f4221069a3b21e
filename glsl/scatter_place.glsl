// Finds the place of the output to which a row of updates belongs. Indices count from the end when negative. Included
// after constants kDepth, kElements and kAxis, the push words and the buffer of indices.
//
// A row has kDepth indices, or (kElements) a single one that replaces coordinate kAxis of its own kDepth.

// Returns false for a row with an index outside, which has no place.
bool placeOf(uint row, out uint place) {
    uint rest = row;
    bool inside = true;
    place = 0;
    for (uint j = kDepth; j > 0;) {
        --j;
        int index;
        if (kElements) {
            index = j == kAxis ? indices[row] : int(rest % push.size[j]);
            rest /= push.size[j];
        } else {
            index = indices[row * kDepth + j];
        }
        if (index < 0) index += push.extent[j];
        inside = inside && index >= 0 && index < push.extent[j];
        place += uint(index) * push.stride[j];
    }
    return inside;
}
