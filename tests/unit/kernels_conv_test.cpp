// Kernels of float convolutions; see conv_case.h.
#include <string>

#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "base/error.h"
#include "conv_case.h"

namespace mnnc::test {
namespace {

TEST(KernelsConv, OneByOne) {
    for (int oc : {1, 5, 16, 24, 40, 70, 160}) check({shape(37, 7, 7, oc, 1), options(1)});
    for (int ic : {1, 4, 16, 33, 64}) check({shape(ic, 5, 13, 35, 1, 1, 1, 0, 2), options(1)});
    check({shape(20, 9, 11, 33, 1, 2), options(1)});
    check({shape(40, 1, 1, 50, 1, 1, 1, 0, 3), options(1)});
    check({shape(24, 60, 61, 17, 1), options(1)});
    check({shape(19, 6, 6, 21, 1, 1, 1, 1), options(1)});
}

// Sums over more than a thousand channels are computed in slices; the residual may be in the memory of the result.
TEST(KernelsConv, OneByOneInSlices) {
    for (const int ic : {1344, 1360, 2731, 4100}) {
        Case c{shape(ic, 9, 9, 70, 1), options(1)};
        c.tolerance = 4e-6;
        check(c);
        c.residual = true;
        c.act = Act::Silu;
        check(c);
        c.s = shape(ic, 1, 1, 50, 1, 1, 1, 0, 90);
        c.act = Act::None;
        c.lo = 0;
        check(c);
    }
}

TEST(KernelsConv, Direct) {
    const ConvOptions direct = options(1, false, false, ConvAlgorithm::Direct);
    check({shape(17, 9, 10, 35, 3, 1, 1, 1), direct});
    check({shape(33, 9, 10, 20, 3, 2, 1, 1, 2), direct});
    check({shape(8, 12, 15, 20, 3, 1, 2, 2), direct});
    check({shape(6, 14, 14, 50, 5, 2, 1, 2), direct});
    check({shape(20, 7, 7, 20, 2, 2), direct});
    ConvShape s = shape(20, 9, 17, 34, 1);
    s.kw = 7;
    s.padLeft = 3;
    check({s, options(1)});
    ConvShape odd = shape(9, 11, 13, 18, 3, 2, 1, 0);
    odd.oh += 1;  // one more row below, as in SAME padding
    odd.padLeft = 1;
    check({odd, options(1)});
    check({shape(30, 7, 7, 20, 7), options(1)});
}

TEST(KernelsConv, FirstLayer) {
    for (bool nchw : {false, true}) {
        check({shape(3, 33, 35, 24, 3, 2, 1, 1), options(1, false, nchw)});
        check({shape(3, 40, 41, 64, 7, 2, 1, 3, 2), options(1, false, nchw)});
        check({shape(1, 28, 28, 20, 5), options(1, false, nchw)});
        check({shape(4, 19, 18, 5, 3, 1, 2, 2), options(1, false, nchw)});
    }
    check({shape(3, 9, 9, 20, 1), options(1, false, true)});
}

TEST(KernelsConv, FullyConnectedLayersReadRows) {
    for (const int channels : {1, 3, 4, 7, 17, 45}) {
        for (const int images : {1, 5, 70}) {
            check({shape(channels, 1, 1, 20, 1, 1, 1, 0, images), options(1, false, true)});
            check({shape(channels, 1, 1, 3, 1, 1, 1, 0, images), options(1, false, true)});
        }
    }
}

// The strip of a first layer has the rows that the taps of its outputs read: rows of padding do not make it higher.
TEST(KernelsConv, PaddingDoesNotMakeTheStripsOfAFirstLayerLarger) {
    check({shape(3, 6, 7, 9, 3, 1, 1, 40), options(1)});
    for (const bool nchw : {false, true}) {
        ConvShape s = shape(3, 8, 8, 16, 3, 1, 1, 1);
        const auto scratch = [&] { return makeConvPlan(selectKernels(), s, options(1, false, nchw))->scratchBytes(1); };
        s.padTop = 70000;
        s.oh += 70000;
        EXPECT_LT(scratch(), size_t{256} << 10);
    }
}

TEST(KernelsConv, Winograd) {
    for (ConvAlgorithm a : {ConvAlgorithm::Winograd2, ConvAlgorithm::Winograd4, ConvAlgorithm::Winograd6}) {
        for (int size : {1, 4, 7, 14, 23}) {
            Case c{shape(35, size, size + 1, 50, 3, 1, 1, 1), options(1, false, false, a)};
            c.tolerance = 1.6e-5;
            check(c);
        }
        Case c{shape(64, 40, 41, 33, 3, 1, 1, 0, 2), options(1, false, false, a)};
        c.tolerance = 1.6e-5;
        c.residual = true;
        c.lo = 0;
        check(c);
        c.act = Act::Silu;
        c.lo = -std::numeric_limits<float>::infinity();
        check(c);
    }
    Case c{shape(256, 14, 14, 128, 3, 1, 1, 1), options(1)};
    c.tolerance = 1.6e-5;
    check(c);
}

std::string algorithmOf(const Case& c) {
    return makeConvPlan(selectKernels(), c.s, c.o)->algorithm();
}

// From a map of one pixel each output reads one tap.
TEST(KernelsConv, TransposedWithoutTheTapsOutsideOfTheMap) {
    Case c{transposedShape(100, 1, 1, 70, 4, 1, 1, 0), options(1, true)};
    EXPECT_EQ(algorithmOf(c), "clipped deconv");
    check(c);
    c.s = transposedShape(37, 2, 3, 50, 4, 2, 1, 1, 1, 2);
    c.residual = true;
    c.act = Act::Silu;
    check(c);
    for (int dilation : {1, 2, 3}) check({transposedShape(19, 2, 2, 33, 5, 1, dilation, 2), options(1, true)});
    check({transposedShape(19, 3, 1, 33, 2, 3, 1, 0), options(1, true)});  // phases without taps
}

TEST(KernelsConv, TransposedToFewChannels) {
    Case c{transposedShape(64, 17, 19, 3, 4, 2, 1, 1), options(1, true)};
    // Three channels nearly fill a vector of four.
    if (selectKernels().lanes > 4) {
        EXPECT_EQ(algorithmOf(c).rfind("phased ", 0), 0u) << algorithmOf(c);
    }
    c.tolerance = 1.6e-5;
    check(c);
    c.residual = true;
    c.act = Act::Silu;
    check(c);
    for (const int extra : {0, 1}) {
        c = {transposedShape(40, 9, 8, 1, 9, 3, 1, 4, extra, 2), options(1, true)};
        EXPECT_EQ(algorithmOf(c).rfind("phased ", 0), 0u) << algorithmOf(c);
        c.tolerance = 1.6e-5;
        c.lo = 0;
        check(c);
    }
    ConvShape odd = transposedShape(33, 7, 6, 2, 3, 2, 1, 0);
    odd.padTop = 1;
    odd.oh -= 1;
    check({odd, options(1, true)});
}

// Winograd's algorithm stores the phases of whole blocks of channels at their places.
TEST(KernelsConv, TransposedToManyChannels) {
    const auto checkPhased = [](Case c) {
        c.tolerance = 1.6e-5;
        EXPECT_GT(check(c, &kPhasedConv), 0);
    };
    const auto plan = kPhasedConv.make(selectKernels(), transposedShape(128, 32, 30, 64, 4, 2, 1, 1), options(1, true));
    EXPECT_EQ(plan->algorithm().rfind("phased winograd", 0), 0u) << plan->algorithm();
    for (const int kernel : {2, 3, 4, 5}) {
        for (const int pad : {0, 1, 2}) {
            for (const int extra : {0, 1}) {
                if (2 * pad > kernel) continue;
                Case c{transposedShape(70, 9, 8, 32, kernel, 2, 1, pad, extra, 2), options(1, true)};
                checkPhased(c);
                c.residual = true;
                c.act = Act::Silu;
                checkPhased(c);
            }
        }
    }
    Case c{transposedShape(300, 13, 14, 64, 4, 2, 1, 1), options(1, true)};
    c.lo = 0;
    checkPhased(c);
    c.o.lowMemory = true;
    checkPhased(c);
    c.s = transposedShape(40, 9, 10, 48, 6, 3, 1, 1);
    checkPhased(c);
    ConvShape odd = transposedShape(64, 7, 6, 32, 4, 2, 1, 0);
    odd.padTop = 1;
    odd.oh -= 1;
    checkPhased({odd, options(1, true)});
}

// Negative padding makes the output larger: no tap reaches its first rows and columns.
TEST(KernelsConv, TransposedWithNegativePadding) {
    for (const int outputs : {3, 5, 32}) {
        for (const int pad : {-1, -2, -3}) {
            for (const bool both : {true, false}) {
                Case c{transposedShape(70, 9, 8, outputs, 4, 2, 1, 0), options(1, true)};
                c.s.padTop = pad;
                c.s.oh -= pad;
                if (both) {
                    c.s.padLeft = pad;
                    c.s.ow -= pad;
                }
                c.tolerance = 1.6e-5;
                check(c);
                c.residual = true;
                check(c);
            }
        }
    }
}

TEST(KernelsConv, WinogradWithBordersWiderThanATile) {
    for (ConvAlgorithm a : {ConvAlgorithm::Winograd2, ConvAlgorithm::Winograd4, ConvAlgorithm::Winograd6}) {
        Case c{shape(9, 5, 6, 12, 3, 1, 1, 21), options(1, false, false, a)};
        c.tolerance = 1.6e-5;
        check(c);
    }
}

TEST(KernelsConv, Bf16) {
    const auto half = [](bool transposed = false, ConvAlgorithm a = ConvAlgorithm::Direct) {
        ConvOptions o = options(1, transposed, false, a);
        o.bf16 = true;
        return o;
    };
    for (int oc : {1, 5, 16, 24, 40, 70, 160}) check({shape(101, 7, 7, oc, 1), half()});
    for (int ic : {97, 112, 128, 131}) check({shape(ic, 5, 13, 35, 1, 1, 1, 0, 2), half()});
    check({shape(110, 9, 11, 33, 1, 2), half()});
    check({shape(110, 1, 9, 33, 1, 2, 1, 0, 2), half()});
    check({shape(101, 1, 1, 50, 1, 1, 1, 0, 3), half()});
    check({shape(120, 60, 61, 17, 1), half()});
    check({shape(115, 6, 6, 21, 1, 1, 1, 1), half()});
    check({shape(17, 9, 10, 35, 3, 1, 1, 1), half()});
    check({shape(33, 9, 10, 20, 3, 2, 1, 1, 2), half()});
    check({shape(11, 12, 15, 20, 3, 1, 2, 2), half()});
    check({shape(6, 14, 14, 50, 5, 2, 1, 2), half()});
    check({shape(30, 7, 7, 20, 7), half()});
    check({shape(64, 60, 60, 40, 3, 1, 1, 1), half()});
    check({transposedShape(35, 7, 6, 20, 2, 2, 1, 0), half(true)});
    check({transposedShape(20, 7, 6, 35, 3, 2, 1, 1, 1, 2), half(true)});
    check({transposedShape(15, 7, 6, 17, 3, 1, 1, 1), half(true)});
    check({transposedShape(128, 2, 2, 16, 1, 2, 1, 1), half(true)});  // no tap reaches the output
    for (bool residual : {false, true}) {
        Case c{shape(101, 7, 7, 37, 1), half()};
        c.residual = residual;
        c.act = Act::HardSwish;
        check(c);
        c.act = Act::None;
        c.lo = -0.5f;
        c.hi = 1.5f;
        check(c);
    }
    for (int size : {1, 4, 7, 14, 23}) {
        Case c{shape(35, size, size + 1, 50, 3, 1, 1, 1), half(false, ConvAlgorithm::Winograd2)};
        c.tolerance = 1e-2;  // transformed operands are rounded
        c.residual = true;
        check(c);
    }
    Case c{shape(64, 40, 41, 33, 3, 1, 1, 0, 2), half(false, ConvAlgorithm::Winograd2)};
    c.tolerance = 1e-2;
    check(c);
}

// Rounding must be worth it: first layers, short sums, groups and larger Winograd tiles stay float.
TEST(KernelsConv, Bf16Declines) {
    const auto declines = [](const ConvShape& s, int groups, ConvAlgorithm a = ConvAlgorithm::Auto) {
        ConvOptions o = options(groups, false, false, a);
        o.bf16 = true;
        const auto plan = makeConvPlan(kernelsWithBf16(""), s, o);
        EXPECT_EQ(plan->algorithm().find(".bf16"), std::string::npos) << plan->algorithm();
    };
    declines(shape(3, 33, 35, 24, 7, 2, 1, 1), 1);
    declines(shape(96, 9, 9, 24, 1), 1);
    declines(shape(64, 9, 9, 64, 3, 1, 1, 1), 64);
    declines(shape(64, 9, 9, 64, 3, 1, 1, 1), 2);
    declines(shape(64, 28, 28, 64, 3, 1, 1, 1), 1, ConvAlgorithm::Winograd4);
    declines(shape(64, 28, 28, 64, 3, 1, 1, 1), 1, ConvAlgorithm::Winograd6);
}

TEST(KernelsConv, Depthwise) {
    for (int k : {1, 2, 3, 4, 5, 7}) {
        for (int stride : {1, 2, 3}) check({shape(37, 19, 23, 37, k, stride, 1, k / 2), options(37)});
        check({shape(20, 24, 21, 20, k, 1, 2, k - 1, 2), options(20)});
    }
    check({shape(32, 7, 7, 32, 3, 1, 1, 1), options(32)});
    check({shape(32, 2, 2, 32, 5, 1, 1, 2), options(32)});
    check({shape(16, 7, 7, 16, 7), options(16)});
    // Maps that are copied strip by strip, and maps that are too wide for it; sums of each remainder.
    for (int k : {7, 9, 13}) {
        for (int width : {20, 29, 41, 60, 120}) {
            Case c{shape(20, 40, width, 20, k, 1, 1, k / 2), options(20)};
            c.residual = true;
            check(c);
            c.s = shape(20, 40, width, 20, k, 1, 1, k / 2 + 2);
            c.act = Act::HardSwish;
            check(c);
        }
    }
    check({shape(20, 30, 33, 20, 9, 1, 3, 12), options(20)});
    check({oneRowKernel(shape(20, 30, 41, 20, 11, 1, 1, 5)), options(20)});
    for (int dilate : {2, 16}) check({oneRowKernel(shape(20, 3, 301, 20, 3, 1, dilate, dilate)), options(20)});
    // Series in time, whose rows are divided among threads; paddings beyond the kernel, and negative ones.
    for (int k : {1, 3, 8})
        for (int stride : {1, 2, 5})
            for (int dilate : {1, 16})
                for (int pad : {-3, 0, (k - 1) * dilate / 2, 40}) {
                    Case c{series(20, 301, k, stride, dilate, pad, 2), options(20)};
                    c.residual = true;
                    c.act = Act::HardSwish;
                    check(c);
                }
    // Interleaved maps of one size and of several, and dilations beyond the map.
    for (int k : {3, 5, 7})
        for (int dilate : {2, 3, 6, 20}) {
            check({shape(20, 14, 17, 20, k, 1, dilate, dilate * (k - 1) / 2), options(20)});
            check({shape(20, 15, 13, 20, k, 1, dilate, dilate * (k - 1) / 2 + 1), options(20)});
        }
    // Negative padding: the first rows and columns are skipped, on small maps and on large ones.
    for (int stride : {1, 2})
        for (int pad : {-1, -3}) {
            check({shape(20, 14, 15, 20, 3, stride, 1, pad), options(20)});
            check({shape(20, 31, 33, 20, 3, stride, 1, pad), options(20)});
        }
    // No border; a border of several tiles, including tiles that read only the border.
    for (int k : {3, 5})
        for (int stride : {1, 2})
            for (int pad : {0, 18}) {
                Case c{shape(20, 23, 45, 20, k, stride, 1, pad), options(20)};
                c.residual = true;
                check(c);
                c.act = Act::HardSwish;
                check(c);
            }
    Case c{shape(37, 13, 14, 37, 3, 2, 1, 1), options(37)};
    c.residual = true;
    c.lo = -0.5f;
    c.hi = 0.5f;
    check(c);
}

// A group for each channel is one operation even with two channels; one channel is no group.
TEST(KernelsConv, DepthwiseBeginsWithTwoChannels) {
    for (const bool transposed : {false, true}) {
        const auto algorithm = [&](int channels) {
            const ConvShape s = transposed ? transposedShape(channels, 9, 8, channels, 3, 2, 1, 1)
                                           : shape(channels, 9, 8, channels, 3, 1, 1, 1);
            check({s, options(channels, transposed)});
            return makeConvPlan(selectKernels(), s, options(channels, transposed))->algorithm();
        };
        const std::string depthwise = transposed ? "depthwise_deconv" : "depthwise";
        EXPECT_NE(algorithm(1), depthwise);
        EXPECT_EQ(algorithm(2), depthwise);
        EXPECT_EQ(algorithm(3), depthwise);
    }
}

TEST(KernelsConv, Grouped) {
    const auto direct = [](int groups) { return options(groups, false, false, ConvAlgorithm::Direct); };
    check({shape(64, 9, 9, 96, 3, 1, 1, 1), direct(2)});
    check({shape(64, 9, 9, 64, 3, 2, 1, 1), direct(8)});
    check({shape(48, 9, 9, 48, 3, 1, 1, 1), direct(2)});
    check({shape(12, 9, 9, 24, 3, 1, 1, 1), direct(12)});
    check({shape(128, 5, 5, 128, 1), direct(32)});
    check({shape(21, 8, 7, 14, 3, 1, 1, 1, 2), direct(7)});
    // A group has as many outputs as vectors have lanes, and more, with a remainder.
    check({shape(27, 8, 9, 45, 3, 1, 1, 1), direct(3)});
    check({shape(10, 8, 9, 46, 3, 1, 1, 1), direct(2)});
    check({shape(9, 9, 8, 57, 1), direct(3)});
    // Groups of few channels, with every stride, padding and dilation; bundles that do not end with a block.
    for (int stride : {1, 2}) {
        check({shape(48, 15, 14, 48, 3, stride, 1, 1), direct(6)});
        check({shape(104, 31, 30, 104, 3, stride, 1, 1), direct(13)});
        check({shape(24, 20, 3, 36, 3, stride, 1, 1), direct(12)});
        check({shape(40, 19, 23, 40, 5, stride, 1, 2, 2), direct(10)});
        check({shape(40, 19, 23, 24, 3, stride, 2, 2), direct(8)});
        check({shape(40, 17, 16, 24, 3, stride, 1, -1), direct(8)});
        check({shape(33, 11, 40, 55, 3, stride, 1, 0), direct(11)});
    }
    Case c{shape(48, 20, 21, 48, 3, 1, 1, 1), direct(6)};
    c.residual = true;
    c.act = Act::Silu;
    check(c);
    c.act = Act::None;
    c.lo = 0;
    c.hi = 3;
    check(c);
}

TEST(KernelsConv, Transposed) {
    check({transposedShape(35, 7, 6, 20, 2, 2, 1, 0), options(1, true)});
    check({transposedShape(20, 7, 6, 35, 3, 2, 1, 1, 1, 2), options(1, true)});
    check({transposedShape(20, 7, 6, 35, 4, 2, 1, 1), options(1, true)});
    check({transposedShape(5, 7, 6, 7, 3, 1, 2, 1), options(1, true)});
    check({transposedShape(5, 7, 6, 7, 2, 3, 1, 0), options(1, true)});
    check({transposedShape(32, 5, 6, 48, 3, 2, 1, 1), options(2, true)});
    check({transposedShape(12, 5, 6, 18, 3, 2, 1, 1), options(3, true)});
    check({transposedShape(21, 9, 8, 21, 4, 2, 1, 1), options(21, true)});
    check({transposedShape(21, 9, 8, 21, 3, 3, 2, 2), options(21, true)});
    // Rows with many outputs of a phase; a dilation that leaves phases without taps, and one that gives all of them
    // some.
    check({transposedShape(21, 7, 31, 21, 8, 4, 1, 2, 1, 2), options(21, true)});
    check({transposedShape(21, 7, 31, 21, 5, 2, 2, 3, 1), options(21, true)});
    check({transposedShape(21, 5, 30, 21, 4, 3, 2, 1), options(21, true)});
    check({transposedShape(21, 4, 3, 21, 9, 2, 3, 11), options(21, true)});
}

TEST(KernelsConv, PostOps) {
    for (Act act : {Act::HardSwish, Act::Silu, Act::Gelu, Act::Sigmoid, Act::HardSigmoid, Act::Tanh, Act::GeluTanh}) {
        for (bool residual : {false, true}) {
            Case c{shape(30, 7, 7, 37, 1), options(1)};
            c.act = act;
            c.residual = residual;
            check(c);
            c.s = shape(37, 9, 9, 37, 3, 1, 1, 1);
            c.o = options(37);
            check(c);
        }
    }
    Case c{shape(30, 7, 7, 37, 1), options(1)};
    c.bias = false;
    c.lo = 0;
    c.hi = 6;
    c.residual = true;
    check(c);
}

TEST(KernelsConv, ActivationRange) {
    for (const std::string& isa : availableIsas()) {
        const Kernels& k = selectKernels(isa);
        for (Act act :
             {Act::HardSwish, Act::Silu, Act::Gelu, Act::Sigmoid, Act::HardSigmoid, Act::Tanh, Act::GeluTanh}) {
            Floats x;
            for (float v = -200; v <= 200; v += 0.03f) x.push_back(v);
            Floats y = x;
            const float inf = std::numeric_limits<float>::infinity();
            unaryKernels(k.id).activate(y.data(), y.size(), act, -inf, inf);
            for (size_t i = 0; i < x.size(); ++i) {
                ASSERT_NEAR(y[i], activate(x[i], act), 1e-6 * std::max(1.0f, std::abs(x[i])))
                    << isa << " " << int(act) << " " << x[i];
            }
        }
    }
}

TEST(KernelsSelect, Names) {
    EXPECT_FALSE(availableIsas().empty());
    EXPECT_EQ(selectKernels("").isa, availableIsas().front());
    for (const std::string& isa : availableIsas()) EXPECT_EQ(selectKernels(isa).isa, isa);
    EXPECT_THROW(selectKernels("mmx"), Error);
}

}  // namespace
}  // namespace mnnc::test
