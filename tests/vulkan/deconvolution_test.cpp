// Deconvolutions: every kernel, odd shapes, every form of parameters.
#include "convolution_case.h"

namespace mnnc::vulkan::test {

TEST(Deconvolution, Windows) {
    const OpType type = OpType::Deconvolution;
    check({
        {.type = type, .input = {1, 3, 4, 5}, .oc = 5, .kh = 3, .kw = 3, .relu = true},
        {.type = type,
         .input = {2, 6, 5, 7},
         .oc = 9,
         .kh = 4,
         .kw = 4,
         .strideY = 2,
         .strideX = 2,
         .pads = {1, 1, 1, 1}},
        {.type = type, .input = {1, 20, 9, 6}, .oc = 70, .kh = 2, .kw = 2, .strideY = 2, .strideX = 2},
        {.type = type,
         .input = {1, 5, 4, 4},
         .oc = 6,
         .kh = 3,
         .kw = 2,
         .strideY = 3,
         .strideX = 1,
         .dilateY = 2,
         .dilateX = 2,
         .pads = {1, 0, 0, 1},
         .relu6 = true},
        {.type = type,
         .input = {1, 5, 4, 6},
         .oc = 6,
         .kh = 3,
         .kw = 3,
         .strideY = 4,
         .strideX = 2,
         .dilateY = 2,
         .dilateX = 2,
         .pads = {1, 1, 1, 1},
         .outPads = {1, 1}},
        {.type = type, .input = {2, 5, 3, 3}, .oc = 4, .strideY = 3, .strideX = 3},
        {.type = type, .input = {1, 5, 3, 3}, .oc = 4},
        {.type = type,
         .input = {1, 5, 4, 3},
         .oc = 4,
         .kh = 3,
         .kw = 3,
         .strideY = 2,
         .strideX = 2,
         .mode = ConvPad::Same,
         .givenHeight = 7,
         .givenWidth = 5},
        {.type = type,
         .input = {1, 5, 4, 3},
         .oc = 4,
         .kh = 3,
         .kw = 3,
         .strideY = 2,
         .strideX = 2,
         .mode = ConvPad::Same,
         .givenHeight = 8,
         .givenWidth = 1},
        {.type = type,
         .input = {1, 4, 3, 3},
         .oc = 4,
         .kh = 3,
         .kw = 3,
         .strideY = 2,
         .strideX = 2,
         .pads = {-1, -2, 0, 0}},
        {.type = type, .input = {1, 200, 3, 3}, .oc = 24, .kh = 4, .kw = 4, .strideY = 2, .strideX = 2},
        {.type = type, .input = {2, 6, 9}, .oc = 5, .kh = 4, .strideY = 2, .pads = {1, 0, 1, 0}},
        {.type = type, .input = {1, 3, 2, 2}, .oc = 2, .kh = 70, .kw = 3, .strideY = 65, .strideX = 2},
    });
}

TEST(Deconvolution, Grouped) {
    const OpType type = OpType::Deconvolution;
    check({
        {.type = type, .input = {2, 8, 5, 4}, .oc = 16, .kh = 3, .kw = 3, .strideY = 2, .strideX = 2, .group = 2},
        {.type = type,
         .input = {1, 6, 5, 4},
         .oc = 9,
         .kh = 3,
         .kw = 3,
         .strideY = 2,
         .strideX = 2,
         .group = 3,
         .relu = true},
        {.type = type, .input = {1, 10, 5, 4}, .oc = 5, .kh = 2, .kw = 3, .dilateY = 3, .group = 5},
    });
}

TEST(Deconvolution, Depthwise) {
    const OpType type = OpType::DeconvolutionDepthwise;
    check({
        {.type = type,
         .input = {2, 5, 4, 6},
         .oc = 5,
         .kh = 4,
         .kw = 4,
         .strideY = 2,
         .strideX = 2,
         .pads = {1, 1, 1, 1},
         .relu = true},
        {.type = type,
         .input = {1, 8, 4, 6},
         .oc = 8,
         .kh = 3,
         .kw = 2,
         .strideY = 3,
         .strideX = 1,
         .dilateY = 2,
         .dilateX = 2,
         .pads = {1, -1, 1, 1}},
        {.type = type, .input = {1, 1, 4, 4}, .oc = 1, .kh = 3, .kw = 3, .strideY = 2, .strideX = 2, .bias = false},
    });
}

}  // namespace mnnc::vulkan::test
