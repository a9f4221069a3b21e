// The search in the table of regions and the sources of the raster kernels. Included after common.glsl and push words
// with `regions`; Region starts with firstGroup.
layout(binding = 1) readonly buffer Regions { Region regions[]; };
layout(binding = 2) readonly buffer Source0 { ELEM source0[]; };
layout(binding = 3) readonly buffer Source1 { ELEM source1[]; };
layout(binding = 4) readonly buffer Source2 { ELEM source2[]; };
layout(binding = 5) readonly buffer Source3 { ELEM source3[]; };

// Returns the region of which work group `group` copies a part.
uint regionOf(uint group) {
    uint low = 0, high = push.regions - 1;
    while (low < high) {
        const uint middle = (low + high + 1) / 2;
        if (regions[middle].firstGroup <= group)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}
