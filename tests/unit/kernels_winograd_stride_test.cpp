// Winograd convolutions with a stride of 2: of three to five taps along both axes, of three along one.
#include <string>
#include <utility>

#include "conv_case.h"

namespace mnnc::test {
namespace {

constexpr double kTolerance = 1.6e-5;

struct Form {
    int tapsH, tapsW;
    ConvAlgorithm algorithm;
    const char* name;
};
constexpr Form kForms[] = {{3, 3, ConvAlgorithm::Winograd2, "winograd2.stride2"},
                           {4, 4, ConvAlgorithm::Winograd2, "winograd2.4x4.stride2"},
                           {5, 5, ConvAlgorithm::Winograd2, "winograd2.5x5.stride2"},
                           {1, 3, ConvAlgorithm::Winograd4, "winograd4.1x3.stride2"},
                           {3, 1, ConvAlgorithm::Winograd4, "winograd4.3x1.stride2"}};
constexpr const Form& kSquare = kForms[0];

ConvShape strided(const Form& form, int ic, int ih, int iw, int oc, int pad = 1, int batch = 1) {
    ConvShape s = shape(ic, ih, iw, oc, 1, 1, 1, 0, batch);
    if (form.tapsH > 1) {
        s.kh = form.tapsH;
        s.strideH = 2;
        s.padTop = pad;
        s.oh = (ih + 2 * pad - s.kh) / 2 + 1;
    }
    if (form.tapsW > 1) {
        s.kw = form.tapsW;
        s.strideW = 2;
        s.padLeft = pad;
        s.ow = (iw + 2 * pad - s.kw) / 2 + 1;
    }
    return s;
}

template <typename Body>
void eachForm(Body&& body) {
    for (const Form& form : kForms) {
        SCOPED_TRACE(form.name);
        body(form, options(1, false, false, form.algorithm));
    }
}

TEST(KernelsConv, WinogradWithAStride) {
    eachForm([](const Form& form, const ConvOptions& o) {
        for (const int size : {5, 6, 7, 8, 9, 16, 21}) {
            for (const int pad : {0, 1, 2}) {
                Case c{strided(form, 35, size, size + 1, 50, pad), o};
                EXPECT_EQ(algorithmOf(c.s, o), form.name);
                c.tolerance = kTolerance;
                check(c);
                c.residual = true;
                c.lo = 0;
                check(c);
            }
        }
        Case c{strided(form, 64, 11, 10, 33, 1, 3), o};
        c.tolerance = kTolerance;
        check(c);
        c.act = Act::Silu;
        check(c);
        // One more row of zeros on one side, as TensorFlow's SAME padding adds them, and a border wider than a tile.
        c.s = strided(form, 20, 12, 12, 17, 0);
        if (form.tapsH > 1) ++c.s.oh;
        if (form.tapsW > 1) ++c.s.ow;
        check(c);
        c.s = strided(form, 20, 12, 12, 17, 11);
        check(c);
    });
}

TEST(KernelsConv, WinogradWithAStrideFromTapsAndCodes) {
    eachForm([](const Form& form, const ConvOptions& o) {
        const ConvShape s = strided(form, 42, 9, 10, 60, 1, 2);
        checkTapsAndCodes(s, o, form.name, kTolerance);
    });
    // From 256 tiles on a run transforms the weights, too.
    Case c{strided(kSquare, 37, 70, 67, 70), options(1, false, false, ConvAlgorithm::Winograd2)};
    EXPECT_EQ(algorithmOf(c.s, c.o), "winograd2.stride2.taps");
    c.tolerance = kTolerance;
    check(c);
}

// Points that share a weight take no memory for it: F(2x2, 3x3) has 25 points and 16 weights.
TEST(KernelsConv, WinogradWithAStrideStoresSharedWeightsOnce) {
    const Kernels& k = selectKernels();
    const ConvOptions o = options(1, false, false, ConvAlgorithm::Winograd2);
    const int64_t strided2 = makeConvPlan(k, strided(kSquare, 64, 17, 17, 64), o)->packedWeightBytes(),
                  plain = makeConvPlan(k, shape(64, 17, 17, 64, 3, 1, 1, 1), o)->packedWeightBytes();
    EXPECT_EQ(strided2, plain);
}

TEST(KernelsConv, WinogradWithAStrideAcceptsItsStrideAlone) {
    const ConvOptions o = options(1, false, false, ConvAlgorithm::Winograd2);
    const ConvShape s = strided(kSquare, 160, 40, 40, 192);
    EXPECT_EQ(algorithmOf(s, options(1)), "winograd2.stride2");
    for (const auto& [h, w] : {std::pair(1, 2), std::pair(2, 1), std::pair(3, 3), std::pair(2, 3)}) {
        Case c{s, o};
        c.s.strideH = h;
        c.s.strideW = w;
        c.s.oh = (40 + 2 - 3) / h + 1;
        c.s.ow = (40 + 2 - 3) / w + 1;
        EXPECT_EQ(algorithmOf(c.s, o), "direct");
        check(c);
    }
    // A series in time lies in memory as a map that is one pixel wide.
    EXPECT_EQ(algorithmOf(strided(kForms[4], 256, 400, 1, 256), options(1)), "winograd4.1x3.stride2");
}

}  // namespace
}  // namespace mnnc::test
