// Winograd convolutions along one axis: windows of 1 x 3, 5 or 7, and their transposes.
#include <string>
#include <utility>

#include "conv_case.h"

namespace mnnc::test {
namespace {

struct Form {
    int unit, taps;
    ConvAlgorithm algorithm;
};
constexpr Form kForms[] = {{4, 3, ConvAlgorithm::Winograd4},
                           {6, 3, ConvAlgorithm::Winograd6},
                           {4, 5, ConvAlgorithm::Winograd4},
                           {2, 7, ConvAlgorithm::Winograd2}};
constexpr double kTolerance = 2e-5;

// A window of 1 x taps, or of taps x 1, with zeros of half its size around the map.
ConvShape line(int taps, bool columns, int ic, int ih, int iw, int oc, int batch = 1) {
    ConvShape s = shape(ic, ih, iw, oc, 1, 1, 1, 0, batch);
    (columns ? s.kh : s.kw) = taps;
    (columns ? s.padTop : s.padLeft) = taps / 2;
    return s;
}

std::string nameOf(const Form& form, bool columns) {
    const std::string taps = std::to_string(form.taps);
    return "winograd" + std::to_string(form.unit) + "." + (columns ? taps + "x1" : "1x" + taps);
}

template <typename Body>
void eachForm(Body&& body) {
    for (const Form& form : kForms)
        for (const bool columns : {false, true}) body(form, columns, options(1, false, false, form.algorithm));
}

TEST(KernelsConv, WinogradAlongOneAxis) {
    eachForm([](const Form& form, bool columns, const ConvOptions& o) {
        for (const int size : {2, 3, 6, 7, 13, 20}) {
            Case c{line(form.taps, columns, 35, size, size + 1, 50), o};
            EXPECT_EQ(algorithmOf(c.s, o), nameOf(form, columns));
            c.tolerance = kTolerance;
            check(c);
            c.residual = true;
            c.lo = 0;
            check(c);
        }
        Case c{line(form.taps, columns, 64, 9, 10, 33, 3), o};
        c.tolerance = kTolerance;
        check(c);
        c.act = Act::Silu;
        check(c);
        // A border wider than a tile, and none at all.
        for (const int pad : {0, 11}) {
            c.s = line(form.taps, columns, 20, 12, 12, 17);
            (columns ? c.s.padTop : c.s.padLeft) = pad;
            (columns ? c.s.oh : c.s.ow) = 12 + 2 * pad - form.taps + 1;
            check(c);
        }
    });
}

TEST(KernelsConv, WinogradAlongOneAxisFromTapsAndCodes) {
    eachForm([](const Form& form, bool columns, const ConvOptions& o) {
        const ConvShape s = line(form.taps, columns, 42, 5, 6, 60, 2);
        checkTapsAndCodes(s, o, nameOf(form, columns), kTolerance);
    });
}

// An axis without taps has no border, and a single pixel fills no tile. The costs of the CPU choose the unit.
TEST(KernelsConv, WinogradAlongOneAxisIsTakenWhereItIsFaster) {
    eachForm([](const Form& form, bool columns, const ConvOptions&) {
        const ConvShape wide = line(form.taps, columns, 160, 36, 36, 192);
        EXPECT_EQ(algorithmOf(wide, options(1)).substr(0, 8), "winograd");
        EXPECT_NE(algorithmOf(line(form.taps, columns, 160, 1, 1, 192), options(1)), nameOf(form, columns));
        ConvShape bordered = wide;
        (columns ? bordered.padLeft : bordered.padTop) = 1;
        (columns ? bordered.ow : bordered.oh) += 2;
        EXPECT_NE(algorithmOf(bordered, options(1, false, false, form.algorithm)), nameOf(form, columns));
        Case c{bordered, options(1, false, false, form.algorithm)};
        check(c);
    });
    // A series in time lies in memory as a map that is one pixel wide.
    EXPECT_EQ(algorithmOf(line(5, true, 256, 400, 1, 256), options(1)), "winograd4.1x5");
}

}  // namespace
}  // namespace mnnc::test
