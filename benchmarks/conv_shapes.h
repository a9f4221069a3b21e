// The convolutions that take most of the time of well-known nets, for kernels.cpp.
#pragma once
#include <string>

#include "base/error.h"

namespace mnnc::bench {

struct ConvCase {
    const char* net;
    int kh, kw, stride;
    int groups;  // equal to the input channels: a depthwise convolution
    int ic, oc;
    int ih, iw;
    int padH, padW;  // on both sides

    int oh() const { return (ih + 2 * padH - kh) / stride + 1; }
    int ow() const { return (iw + 2 * padW - kw) / stride + 1; }
    bool depthwise() const { return groups == ic && groups == oc && groups > 1; }
    double flops() const { return 2.0 * kh * kw * (ic / groups) * oc * oh() * ow(); }
    std::string name() const {
        std::string kernel = format("%s%dx%d", depthwise() ? "dw" : "", kh, kw);
        if (stride > 1) kernel += format("s%d", stride);
        if (groups > 1 && !depthwise()) kernel += format("g%d", groups);
        return format("%s/%s/%dto%d/%dx%d", net, kernel.c_str(), ic, oc, oh(), ow());
    }
};

// clang-format off
inline constexpr ConvCase kConvCases[] = {
    //             kernel  s    g   ic    oc   input     pad
    {"mobilenet_v2", 3, 3, 2,   1,    3,   32, 224, 224, 1, 1},
    {"mobilenet_v2", 1, 1, 1,   1,   32,   16, 112, 112, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1,   16,   96, 112, 112, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1,   96,   24,  56,  56, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1,   24,  144,  56,  56, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1,  144,   24,  56,  56, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1,   32,  192,  28,  28, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1,  192,   32,  28,  28, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1,   64,  384,  14,  14, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1,  384,   64,  14,  14, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1,  384,   96,  14,  14, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1,   96,  576,  14,  14, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1,  576,   96,  14,  14, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1,  576,  160,   7,   7, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1,  160,  960,   7,   7, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1,  960,  160,   7,   7, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1,  960,  320,   7,   7, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1,  320, 1280,   7,   7, 0, 0},
    {"mobilenet_v2", 1, 1, 1,   1, 1280, 1000,   1,   1, 0, 0},
    {"mobilenet_v2", 3, 3, 1,  32,   32,   32, 112, 112, 1, 1},
    {"mobilenet_v2", 3, 3, 2,  96,   96,   96, 112, 112, 1, 1},
    {"mobilenet_v2", 3, 3, 1, 144,  144,  144,  56,  56, 1, 1},
    {"mobilenet_v2", 3, 3, 2, 144,  144,  144,  56,  56, 1, 1},
    {"mobilenet_v2", 3, 3, 1, 192,  192,  192,  28,  28, 1, 1},
    {"mobilenet_v2", 3, 3, 1, 384,  384,  384,  14,  14, 1, 1},
    {"mobilenet_v2", 3, 3, 1, 576,  576,  576,  14,  14, 1, 1},
    {"mobilenet_v2", 3, 3, 2, 576,  576,  576,  14,  14, 1, 1},
    {"mobilenet_v2", 3, 3, 1, 960,  960,  960,   7,   7, 1, 1},

    {"resnet50", 7, 7, 2, 1,    3,   64, 224, 224, 3, 3},
    {"resnet50", 1, 1, 1, 1,   64,  256,  56,  56, 0, 0},
    {"resnet50", 1, 1, 1, 1,  256,   64,  56,  56, 0, 0},
    {"resnet50", 1, 1, 1, 1,  256,  128,  56,  56, 0, 0},
    {"resnet50", 3, 3, 1, 1,   64,   64,  56,  56, 1, 1},
    {"resnet50", 3, 3, 2, 1,  128,  128,  56,  56, 1, 1},
    {"resnet50", 1, 1, 2, 1,  256,  512,  56,  56, 0, 0},
    {"resnet50", 1, 1, 1, 1,  128,  512,  28,  28, 0, 0},
    {"resnet50", 1, 1, 1, 1,  512,  128,  28,  28, 0, 0},
    {"resnet50", 1, 1, 1, 1,  512,  256,  28,  28, 0, 0},
    {"resnet50", 3, 3, 1, 1,  128,  128,  28,  28, 1, 1},
    {"resnet50", 3, 3, 2, 1,  256,  256,  28,  28, 1, 1},
    {"resnet50", 1, 1, 2, 1,  512, 1024,  28,  28, 0, 0},
    {"resnet50", 1, 1, 1, 1,  256, 1024,  14,  14, 0, 0},
    {"resnet50", 1, 1, 1, 1, 1024,  256,  14,  14, 0, 0},
    {"resnet50", 1, 1, 1, 1, 1024,  512,  14,  14, 0, 0},
    {"resnet50", 3, 3, 1, 1,  256,  256,  14,  14, 1, 1},
    {"resnet50", 3, 3, 2, 1,  512,  512,  14,  14, 1, 1},
    {"resnet50", 1, 1, 2, 1, 1024, 2048,  14,  14, 0, 0},
    {"resnet50", 1, 1, 1, 1,  512, 2048,   7,   7, 0, 0},
    {"resnet50", 1, 1, 1, 1, 2048,  512,   7,   7, 0, 0},
    {"resnet50", 3, 3, 1, 1,  512,  512,   7,   7, 1, 1},

    {"inception_v3", 3, 3, 2, 1,    3,  32, 299, 299, 0, 0},
    {"inception_v3", 3, 3, 1, 1,   32,  32, 149, 149, 0, 0},
    {"inception_v3", 3, 3, 1, 1,   32,  64, 147, 147, 1, 1},
    {"inception_v3", 3, 3, 1, 1,   80, 192,  73,  73, 0, 0},
    {"inception_v3", 1, 1, 1, 1,  256,  64,  35,  35, 0, 0},
    {"inception_v3", 1, 1, 1, 1,  288,  64,  35,  35, 0, 0},
    {"inception_v3", 5, 5, 1, 1,   48,  64,  35,  35, 2, 2},
    {"inception_v3", 3, 3, 1, 1,   64,  96,  35,  35, 1, 1},
    {"inception_v3", 3, 3, 1, 1,   96,  96,  35,  35, 1, 1},
    {"inception_v3", 3, 3, 2, 1,  288, 384,  35,  35, 0, 0},
    {"inception_v3", 1, 1, 1, 1,  768, 128,  17,  17, 0, 0},
    {"inception_v3", 1, 1, 1, 1,  768, 160,  17,  17, 0, 0},
    {"inception_v3", 1, 1, 1, 1,  768, 192,  17,  17, 0, 0},
    {"inception_v3", 1, 7, 1, 1,  128, 128,  17,  17, 0, 3},
    {"inception_v3", 7, 1, 1, 1,  128, 128,  17,  17, 3, 0},
    {"inception_v3", 1, 7, 1, 1,  128, 192,  17,  17, 0, 3},
    {"inception_v3", 7, 1, 1, 1,  128, 192,  17,  17, 3, 0},
    {"inception_v3", 1, 7, 1, 1,  160, 160,  17,  17, 0, 3},
    {"inception_v3", 7, 1, 1, 1,  160, 160,  17,  17, 3, 0},
    {"inception_v3", 1, 7, 1, 1,  160, 192,  17,  17, 0, 3},
    {"inception_v3", 7, 1, 1, 1,  160, 192,  17,  17, 3, 0},
    {"inception_v3", 1, 7, 1, 1,  192, 192,  17,  17, 0, 3},
    {"inception_v3", 7, 1, 1, 1,  192, 192,  17,  17, 3, 0},
    {"inception_v3", 3, 3, 2, 1,  192, 320,  17,  17, 0, 0},
    {"inception_v3", 1, 1, 1, 1, 1280, 384,   8,   8, 0, 0},
    {"inception_v3", 1, 1, 1, 1, 1280, 448,   8,   8, 0, 0},
    {"inception_v3", 1, 1, 1, 1, 2048, 320,   8,   8, 0, 0},
    {"inception_v3", 1, 1, 1, 1, 2048, 384,   8,   8, 0, 0},
    {"inception_v3", 1, 1, 1, 1, 2048, 448,   8,   8, 0, 0},
    {"inception_v3", 1, 3, 1, 1,  384, 384,   8,   8, 0, 1},
    {"inception_v3", 3, 1, 1, 1,  384, 384,   8,   8, 1, 0},
    {"inception_v3", 3, 3, 1, 1,  448, 384,   8,   8, 1, 1},

    // Grouped convolutions, and depthwise ones of other sizes.
    {"regnet_y_400mf", 3, 3, 2,   6,  48,  48, 112, 112, 1, 1},
    {"regnet_y_400mf", 3, 3, 1,  26, 208, 208,  14,  14, 1, 1},
    {"regnet_y_400mf", 3, 3, 2,  55, 440, 440,  14,  14, 1, 1},
    {"regnet_y_400mf", 3, 3, 1,  55, 440, 440,   7,   7, 1, 1},
    {"efficientnet_b0", 5, 5, 2, 144, 144, 144, 56,  56, 2, 2},
    {"efficientnet_b0", 5, 5, 1, 240, 240, 240, 28,  28, 2, 2},
    {"efficientnet_b0", 5, 5, 1, 672, 672, 672, 14,  14, 2, 2},
    {"efficientnet_b0", 5, 5, 1, 1152, 1152, 1152, 7, 7, 2, 2},
    {"mobilenet_v3_large", 3, 3, 2, 1, 3,   16, 224, 224, 1, 1},

    {"shufflenet_v2_x1_0", 1, 1, 1, 1,  58,  58, 28, 28, 0, 0},
    {"shufflenet_v2_x1_0", 1, 1, 1, 1, 116, 116, 14, 14, 0, 0},
    {"shufflenet_v2_x1_0", 1, 1, 1, 1, 232, 232,  7,  7, 0, 0},
    {"densenet121", 3, 3, 1, 1, 128,  32, 56, 56, 1, 1},
    {"densenet121", 3, 3, 1, 1, 128,  32, 28, 28, 1, 1},
    {"densenet121", 1, 1, 1, 1, 512, 128, 14, 14, 0, 0},
    {"unet", 3, 3, 1, 1,  3, 16, 128, 128, 1, 1},
    {"unet", 3, 3, 1, 1, 16, 16, 128, 128, 1, 1},
    {"unet", 3, 3, 1, 1, 48, 16, 128, 128, 1, 1},
    {"unet", 3, 3, 1, 1, 64, 32,  64,  64, 1, 1},
    // Linear layers over 197 tokens are convolutions in .mnn files.
    {"vit_small_224", 16, 16, 16, 1, 3, 384, 224, 224, 0, 0},
    {"vit_small_224", 1, 1, 1, 1,  384,  384, 197, 1, 0, 0},
    {"vit_small_224", 1, 1, 1, 1,  384, 1152, 197, 1, 0, 0},
    {"vit_small_224", 1, 1, 1, 1,  384, 1536, 197, 1, 0, 0},
    {"vit_small_224", 1, 1, 1, 1, 1536,  384, 197, 1, 0, 0},
};
// clang-format on

}  // namespace mnnc::bench
