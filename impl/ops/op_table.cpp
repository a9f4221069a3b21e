// The one list of operator families.
#include <algorithm>
#include <array>

#include "ops/families.h"

namespace mnnc {

const OpDef* findOpDef(OpType type) noexcept {
    using FamilyFunction = OpFamily (*)();
    static constexpr FamilyFunction kFamilies[] = {
        // clang-format off
        sourceOps, castOps, shapeQueryOps, reshapeOps, permuteOps, concatOps, sliceOps, paddingOps, fillOps,
        gatherOps, scatterOps, selectOps, searchOps, scanOps, spaceOps, nonMaxSuppressionOps, controlOps, rasterOps,
        convolutionOps, convolution3dOps, columnOps, dilation2dOps, channelProductOps, determinantOps, segmentOps,
        poolingOps, interpOps, unaryOps, activationOps, binaryOps, reductionOps, scaleOps, layerNormOps, normalizeOps,
        lrnOps, softmaxOps, matmulOps, quantizedOps, gridSampleOps, regionOps, attentionOps, groupNormOps, splitGeluOps, detectionOps,
        detectionOutputOps, dequantizeOps, uint8Ops, tensorArrayOps, tensorPieceOps, recurrentOps, stftOps,
        rangeOps, uint8PointwiseOps, momentsOps, histogramOps, svdOps, imageProcessOps, gradientOps,
        // clang-format on
    };
    for (const FamilyFunction family : kFamilies)
        for (const OpDef& def : family())
            if (def.type == type) return &def;
    return nullptr;
}

}  // namespace mnnc
