// The one list of the CPU backend's operator families.
#include "backends/cpu/ops/table.h"

#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

const CpuOp* findCpuOp(OpType type) noexcept {
    using FamilyFunction = CpuFamily (*)();
    static constexpr FamilyFunction kFamilies[] = {
        // clang-format off
        rasterCpu, dynamicSliceCpu, castCpu, fillCpu, paddingCpu, permuteCpu, gatherCpu, scatterCpu, selectCpu,
        searchCpu, scanCpu, nonMaxSuppressionCpu, convolutionCpu, convolution3dCpu, columnsCpu, dilation2dCpu,
        channelProductsCpu, determinantCpu, segmentCpu, poolingCpu, interpCpu, unaryCpu, activationCpu, binaryCpu,
        reductionCpu, scaleCpu, layerNormCpu, normalizeCpu, lrnCpu, softmaxCpu, matmulCpu, quantizedCpu,
        int8ConvolutionCpu, gridSampleCpu, regionCpu, attentionCpu, groupNormCpu, detectionCpu, dequantizeCpu, uint8Cpu, tensorArrayCpu, recurrentCpu,
        lstmBlockCpu, stftCpu, regionLoopCpu, histogramCpu, svdCpu, imageProcessCpu, gradientsCpu, customCpu,
        // clang-format on
    };
    for (const FamilyFunction family : kFamilies)
        for (const CpuOp& op : family())
            if (op.type == type) return &op;
    return nullptr;
}

}  // namespace mnnc::cpu
