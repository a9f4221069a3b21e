// Parameters of Col2Im for its execution.
#pragma once
#include "ops/op_def.h"

namespace mnnc {

// Columns [planes / channels][channels][kernelY][kernelX][patchesY][patchesX] to planes of height x width.
struct Col2ImParams : ParamsOf<Col2ImParams> {
    int64_t planes = 0, height = 0, width = 0;  // planes: of all images
    int64_t patchesY = 0, patchesX = 0;
    int64_t kernelY = 1, kernelX = 1;
    int64_t strideY = 1, strideX = 1;
    int64_t dilateY = 1, dilateX = 1;
    int64_t padTop = 0, padLeft = 0;
};

// The patches whose tap at `offset` (dilated position minus padding) lies inside of an axis: first to last - 1.
struct PatchRange {
    int64_t first, last;
};
inline PatchRange patchesInside(int64_t extent, int64_t patches, int64_t stride, int64_t offset) {
    const int64_t first = offset < 0 ? ceilDiv(-offset, stride) : 0;
    const int64_t last = offset < extent ? (extent - 1 - offset) / stride + 1 : 0;
    const int64_t end = last < patches ? last : patches;
    return {first, first < end ? end : first};
}

}  // namespace mnnc
