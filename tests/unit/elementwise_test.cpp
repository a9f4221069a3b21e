// The vector kernels of the elementwise family against double references, for every instruction set of this
// CPU.
#include "backends/cpu/kernels/elementwise/elementwise.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <vector>

#include "backends/cpu/kernels/kernels.h"

namespace mnnc::test {
namespace {

struct Case {
    int code;
    const char* name;
    double (*reference)(double);
    float from, to;
    double ulps;  // of the result, or of `floor` where that is larger
    double floor;
};

double sigmoid(double x) {
    return 1 / (1 + std::exp(-x));
}
double gelu(double x) {
    return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
}
double geluTanh(double x) {
    return x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
}

const Case kCases[] = {
    {7, "exp", [](double x) { return std::exp(x); }, -87.0f, 88.5f, 2.5, 0},
    {8, "log", [](double x) { return std::log(x); }, 1e-30f, 1e4f, 2, 1e-2},
    {9, "sin", [](double x) { return std::sin(x); }, -30, 30, 4, 1e-2},
    {9, "sin, far", [](double x) { return std::sin(x); }, -50000, 50000, 4, 0.5},
    {10, "cos", [](double x) { return std::cos(x); }, -30, 30, 4, 1e-2},
    {10, "cos, far", [](double x) { return std::cos(x); }, -50000, 50000, 4, 0.5},
    {12, "asin", [](double x) { return std::asin(x); }, -1, 1, 4, 0},
    {13, "acos", [](double x) { return std::acos(x); }, -1, 1, 4, 0},
    {14, "atan", [](double x) { return std::atan(x); }, -20, 20, 4, 0},
    {14, "atan, far", [](double x) { return std::atan(x); }, -1e30f, 1e30f, 4, 0},
    {16, "log1p", [](double x) { return std::log1p(x); }, -0.9f, 50, 4, 0},
    {17, "softplus", [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }, -80, 80,
     5, 0},
    {25, "erf", [](double x) { return std::erf(x); }, -5, 5, 2.5, 0},
    {28, "expm1", [](double x) { return std::expm1(x); }, -10, 10, 4, 0},
    {29, "sigmoid", sigmoid, -80, 80, 4, 0},
    {30, "tanh", [](double x) { return std::tanh(x); }, -10, 10, 4, 0},
    {31, "hardswish", [](double x) { return x * std::fmin(std::fmax(x + 3, 0), 6) / 6; }, -5, 5, 3, 0.1},
    {32, "gelu_tanh", geluTanh, -6, 6, 8, 1e-1},
    {33, "gelu", gelu, -6, 6, 6, 1e-1},
    {34, "silu", [](double x) { return x * sigmoid(x); }, -80, 80, 4, 0},
    {6, "rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1e-10f, 1e10f, 1.5, 0},
    {22, "sign", [](double x) { return double((x > 0) - (x < 0)); }, -3, 3, 0, 0},
    {23, "round", [](double x) { return std::round(x); }, -10, 10, 0, 0},
};

TEST(Elementwise, UnaryWithinAFewUlp) {
    for (const std::string& isa : availableIsas()) {
        const UnaryKernels& table = unaryKernels(selectKernels(isa).id);
        for (const Case& c : kCases) {
            const size_t n = 200003;
            std::vector<float> x(n), y(n + 1, 123.0f);
            for (size_t i = 0; i < n; ++i)
                x[i] = c.from + (c.to - c.from) * static_cast<float>(i) / static_cast<float>(n - 1);
            table.byCode[c.code](x.data(), y.data(), n);
            double worst = 0, worstAbs = 0;
            float at = 0;
            for (size_t i = 0; i < n; ++i) {
                const double want = c.reference(x[i]);
                const double size = std::fmax(std::fmax(std::fabs(want), c.floor), FLT_MIN);
                const double ulp = std::ldexp(1.0, std::ilogb(size) - 23);
                worstAbs = std::fmax(worstAbs, std::fabs(y[i] - want));
                const double error = std::fabs(y[i] - want) / ulp;
                if (error > worst) worst = error, at = x[i];
            }
            printf("%-8s %-10s %.2f ulp at %g, %.3g absolute\n", isa.c_str(), c.name, worst, static_cast<double>(at),
                   worstAbs);
            EXPECT_LE(worst, c.ulps) << isa << " " << c.name << " at " << at;
            EXPECT_EQ(y[n], 123.0f) << "wrote past the end";
        }
    }
}

TEST(Elementwise, SpecialValues) {
    const float inf = INFINITY, nan = NAN;
    const std::vector<float> x = {0.0f, -0.0f, inf, -inf, nan, 0.5f, -0.5f, 2.5f, -2.5f};
    for (const std::string& isa : availableIsas()) {
        const UnaryKernels& table = unaryKernels(selectKernels(isa).id);
        auto run = [&](int code) {
            std::vector<float> y(x.size());
            table.byCode[code](x.data(), y.data(), x.size());
            return y;
        };
        EXPECT_EQ(run(23)[5], 0.0f);
        EXPECT_EQ(run(23)[6], -0.0f);
        EXPECT_EQ(run(23)[7], 2.0f);
        EXPECT_EQ(run(23)[2], inf);
        EXPECT_EQ(run(22)[4], 0.0f);
        EXPECT_EQ(run(8)[0], -inf);
        EXPECT_EQ(run(8)[2], inf);
        EXPECT_TRUE(std::isnan(run(8)[3]));
        EXPECT_EQ(run(30)[2], 1.0f);
        EXPECT_EQ(run(30)[3], -1.0f);
        EXPECT_EQ(run(25)[3], -1.0f);
        EXPECT_EQ(run(29)[2], 1.0f);
        EXPECT_EQ(run(32)[2], inf);
        for (const int code : {32, 34}) EXPECT_NEAR(run(code)[3], 0.0f, 1e-30f) << isa << " code " << code;
        EXPECT_EQ(run(34)[2], inf) << isa;
        EXPECT_FLOAT_EQ(run(14)[2], 1.57079633f);
        EXPECT_FLOAT_EQ(run(14)[3], -1.57079633f);
        for (int code : {9, 14, 25, 30}) EXPECT_TRUE(std::signbit(run(code)[1])) << isa << " code " << code;
        for (int code : {9, 10, 12, 13}) EXPECT_TRUE(std::isnan(run(code)[2])) << isa << " code " << code;
        for (int code : {9, 10, 12, 13, 14, 30}) EXPECT_TRUE(std::isnan(run(code)[4])) << isa << " code " << code;
        for (int code : {7, 8, 25, 29, 30, 32, 33, 34})
            EXPECT_TRUE(std::isnan(run(code)[4])) << isa << " code " << code;
    }
}

// The result for an element is the same beside numbers that a fast formula does not reach, which may be no elements at
// all.
TEST(Elementwise, LanesDoNotDependOnTheirNeighbours) {
    constexpr size_t kCount = 64;
    const float outliers[] = {1e30f, -1e30f, 90, INFINITY, -INFINITY, NAN};
    for (const std::string& isa : availableIsas()) {
        const UnaryKernels& table = unaryKernels(selectKernels(isa).id);
        for (int code = 0; code < kUnaryCodes; ++code) {
            if (!table.byCode[code]) continue;
            std::vector<float> x(kCount), alone(kCount), beside(kCount);
            for (size_t i = 0; i < kCount; ++i) x[i] = static_cast<float>(i % 37) / 39.0f + 1e-3f;
            table.byCode[code](x.data(), alone.data(), kCount);
            for (size_t i = 0; i < kCount; i += 3) x[i] = outliers[i / 3 % std::size(outliers)];
            table.byCode[code](x.data(), beside.data(), kCount);
            for (size_t i = 0; i < kCount; ++i) {
                if (i % 3 == 0) continue;
                EXPECT_EQ(std::bit_cast<uint32_t>(alone[i]), std::bit_cast<uint32_t>(beside[i]))
                    << isa << " code " << code << " element " << i;
            }
        }
    }
}

// A NaN stays one at every place: behind limits, and in the extremes of two values or of many.
TEST(Elementwise, LimitsAndExtremesKeepNaN) {
    constexpr int kMinimum = 8, kMaximum = 9;
    for (const std::string& isa : availableIsas()) {
        const Isa id = selectKernels(isa).id;
        const UnaryKernels& unary = unaryKernels(id);
        const BinaryKernels& binary = binaryKernels(id);
        const RowKernels& rows = rowKernels(id);
        for (const size_t n : {1u, 5u, 16u, 37u, 150u})
            for (size_t at = 0; at < n; at += 1 + at / 7) {
                std::vector<float> x(n), other(n, 0.5f), y(n);
                for (size_t i = 0; i < n; ++i) x[i] = std::sin(static_cast<float>(i));
                x[at] = NAN;
                const auto onlyThere = [&](const char* what) {
                    for (size_t i = 0; i < n; ++i)
                        EXPECT_EQ(std::isnan(y[i]), i == at) << isa << " " << what << " " << i << " of " << n;
                };
                unary.clip(x.data(), y.data(), n, -0.5f, 0.5f);
                onlyThere("clip");
                y = x;
                unary.activate(y.data(), n, Act::HardSwish, 0, 6);
                onlyThere("activate");
                y = x;
                binary.reluFloat(y.data(), n);
                onlyThere("relu");
                for (const int code : {kMinimum, kMaximum}) {
                    binary.byCode[code](x.data(), Elements::Each, other.data(), Elements::Each, y.data(), n);
                    onlyThere("x, other");
                    binary.byCode[code](other.data(), Elements::Each, x.data(), Elements::Each, y.data(), n);
                    onlyThere("other, x");
                }
                EXPECT_TRUE(std::isnan(rows.max(x.data(), n))) << isa << " " << at << " of " << n;
                EXPECT_TRUE(std::isnan(rows.min(x.data(), n))) << isa << " " << at << " of " << n;
                y = other;
                rows.maxTo(y.data(), x.data(), n);
                rows.minTo(y.data(), other.data(), n);
                onlyThere("columns");
            }
        const std::vector<float> low(37, -INFINITY), high(37, INFINITY);
        EXPECT_EQ(rows.max(low.data(), low.size()), -INFINITY) << isa;
        EXPECT_EQ(rows.min(high.data(), high.size()), INFINITY) << isa;
    }
}

TEST(Elementwise, EndsOfTheExponential) {
    const auto last = std::bit_cast<float>(0x42b17217u),
               next = std::bit_cast<float>(0x42b17218u);  // beside log(FLT_MAX)
    const auto odd = std::bit_cast<float>(0x7fffffffu);   // a NaN whose last bits are set
    const std::vector<float> x = {last, next, 1000, -1000, -87.3f, 0, odd, 88.7f};
    for (const std::string& isa : availableIsas()) {
        std::vector<float> y(x.size());
        unaryKernels(selectKernels(isa).id).byCode[7](x.data(), y.data(), x.size());
        for (const size_t i : {0u, 4u, 5u, 7u})
            EXPECT_NEAR(y[i] / std::exp(static_cast<double>(x[i])), 1, 4e-7) << isa << " " << x[i];
        EXPECT_EQ(y[1], INFINITY) << isa;
        EXPECT_EQ(y[2], INFINITY) << isa;
        EXPECT_EQ(y[3], 0) << isa;
        for (const int code : {7, 29, 34}) {
            unaryKernels(selectKernels(isa).id).byCode[code](x.data(), y.data(), x.size());
            EXPECT_TRUE(std::isnan(y[6])) << isa << " code " << code;
        }
    }
}

TEST(Elementwise, SoftmaxRowsAndColumns) {
    for (const std::string& isa : availableIsas()) {
        const RowKernels& table = rowKernels(selectKernels(isa).id);
        for (size_t n : {1u, 3u, 16u, 37u, 1000u, 70001u}) {
            std::vector<float> x(n), y(n);
            double sum = 0, worst = 0;
            for (size_t i = 0; i < n; ++i) {
                x[i] = 8 * std::sin(static_cast<float>(i) * 1.7f);
                sum += std::exp(static_cast<double>(x[i]));
            }
            table.softmax(x.data(), y.data(), n);
            for (size_t i = 0; i < n; ++i) {
                const double want = std::exp(static_cast<double>(x[i])) / sum;
                worst = std::fmax(worst, std::fabs(y[i] - want) / want);
            }
            if (n > 900) printf("%-8s softmax %zu: %.3g relative\n", isa.c_str(), n, worst);
            // Rounding x - max alone costs 1e-6 at a distance of 16.
            EXPECT_LT(worst, 2e-6) << isa << " " << n;
        }
        // 5 rows, 19 columns of a matrix 23 wide: each column against the row kernel.
        std::vector<float> m(5 * 23), out(5 * 23, -7);
        for (size_t i = 0; i < m.size(); ++i) m[i] = std::cos(static_cast<float>(i));
        table.softmaxColumns(m.data(), out.data(), 5, 23, 19);
        for (size_t c = 0; c < 19; ++c) {
            float column[5], want[5];
            for (size_t r = 0; r < 5; ++r) column[r] = m[r * 23 + c];
            table.softmax(column, want, 5);
            for (size_t r = 0; r < 5; ++r) EXPECT_NEAR(out[r * 23 + c], want[r], 1e-6);
        }
        EXPECT_EQ(out[19], -7);
        const size_t rows = 1 << 20;
        std::vector<float> tall(3 * rows, -2.3f);  // each adds 0.1 to the sum of a column
        for (size_t c = 0; c < 3; ++c) tall[c] = 0;
        table.softmaxColumns(tall.data(), tall.data(), rows, 3, 3);
        double sum = 0;
        for (size_t i = 1; i < tall.size(); i += 3) sum += tall[i];
        EXPECT_NEAR(sum, 1, 1e-5) << isa;
        std::vector<float> masked(21, -INFINITY), result(21, 1);
        table.softmax(masked.data(), result.data(), 21);
        for (float v : result) EXPECT_LT(v, 1e-30f);
    }
}

TEST(Elementwise, NormAndSums) {
    for (const std::string& isa : availableIsas()) {
        const RowKernels& table = rowKernels(selectKernels(isa).id);
        const float two[2] = {3, 4};
        float out[2];
        table.norm(two, out, 2, nullptr, nullptr, 0, true);
        EXPECT_NEAR(out[0], 0.848528f, 1e-6);
        EXPECT_NEAR(out[1], 1.131371f, 1e-6);
        table.normColumns(two, out, 2, 1, 1, nullptr, nullptr, 0, true);
        EXPECT_NEAR(out[1], 1.131371f, 1e-6);
        const size_t n = 1000003;
        std::vector<float> x(n);
        double sum = 0, square = 0;
        // The mean differs from block to block.
        for (size_t i = 0; i < n; ++i)
            sum += x[i] = 3 + std::sin(static_cast<float>(i)) + 1e-5f * static_cast<float>(i);
        EXPECT_NEAR(table.sum(x.data(), n) / sum, 1, 1e-7);
        const double mean = sum / static_cast<double>(n);
        for (float v : x) square += (v - mean) * (v - mean);
        std::vector<float> y(n);
        table.norm(x.data(), y.data(), n, nullptr, nullptr, 1e-5f, false);
        for (size_t i = 0; i < n; i += 997)
            EXPECT_NEAR(y[i], (x[i] - mean) / std::sqrt(square / static_cast<double>(n) + 1e-5), 2e-6);
        table.normColumns(x.data(), y.data(), n, 1, 1, nullptr, nullptr, 1e-5f, false);
        for (size_t i = 0; i < n; i += 997)
            EXPECT_NEAR(y[i], (x[i] - mean) / std::sqrt(square / static_cast<double>(n) + 1e-5), 2e-6);
        std::vector<float> flat(n, 0.1f);
        table.normColumns(flat.data(), flat.data(), n, 1, 1, nullptr, nullptr, 1e-5f, false);
        for (const float v : flat) ASSERT_NEAR(v, 0, 5e-4) << isa;
    }
}

TEST(Elementwise, BinaryOperandsAndTails) {
    for (const std::string& isa : availableIsas()) {
        const Kernels& kernels = selectKernels(isa);
        const BinaryKernels& table = binaryKernels(kernels.id);
        const size_t lanes = static_cast<size_t>(kernels.lanes);
        for (size_t n : {1u, 7u, 16u, 33u, 64u}) {
            std::vector<float> a(n), b(n + 16), y(n + 1, 99);
            std::vector<int32_t> less(n);
            for (size_t i = 0; i < n; ++i) a[i] = static_cast<float>(i) - 10, b[i] = static_cast<float>(i * 7 % 11) - 5;
            table.byCode[1](a.data(), Elements::Each, b.data(), Elements::Each, y.data(), n);
            for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], a[i] - b[i]);
            EXPECT_EQ(y[n], 99);
            table.byCode[1](b.data(), Elements::Lanes, a.data(), Elements::Each, y.data(), n);
            for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], b[i % lanes] - a[i]);
            table.byCode[12](a.data(), Elements::Each, b.data(), Elements::One, less.data(), n);
            for (size_t i = 0; i < n; ++i) EXPECT_EQ(less[i], a[i] < b[0] ? 1 : 0);
        }
    }
}

// A scalar exponent has formulas of its own, and the results of others.
TEST(Elementwise, SquareRootsArePowers) {
    const float x[] = {4, 0.0f, -0.0f, INFINITY, -INFINITY, NAN, -1}, half = 0.5f;
    constexpr size_t kCount = std::size(x);
    float y[kCount];
    binaryScalarFloat(6)(x, Elements::Each, &half, Elements::One, y, kCount, 4);
    for (size_t i = 0; i < kCount; ++i) {
        const float want = std::pow(x[i], half);
        EXPECT_TRUE(std::isnan(want) ? std::isnan(y[i]) : y[i] == want && std::signbit(y[i]) == std::signbit(want))
            << x[i] << ": " << y[i];
    }
}

TEST(Elementwise, IntegerSignRules) {
    // (-7,3) (-7,-3) (7,3) (7,-3): FLOORDIV, FLOORMOD, MOD, REALDIV.
    const int32_t a[] = {-7, -7, 7, 7, 5, INT32_MIN}, b[] = {3, -3, 3, -3, 0, -1};
    struct {
        int code;
        int32_t want[6];
    } const cases[] = {{13, {-3, 2, 2, -3, 0, INT32_MAX}},
                       {17, {-1, -1, 1, 1, 0, 0}},
                       {19, {2, -1, 1, -2, 0, 0}},
                       {7, {-2, 2, 2, -2, 0, INT32_MIN}}};
    for (const auto& c : cases) {
        int32_t y[6];
        binaryScalarInt(DataType::Int32, c.code)(a, Elements::Each, b, Elements::Each, y, 6, 4);
        for (int i = 0; i < 6; ++i) EXPECT_EQ(y[i], c.want[i]) << c.code << " " << i;
    }
    const float fa[] = {-7, -7, 7, 7}, fb[] = {3, -3, 3, -3};
    float y[4];
    binaryScalarFloat(17)(fa, Elements::Each, fb, Elements::Each, y, 4, 4);
    EXPECT_EQ(y[0], 2);
    EXPECT_EQ(y[3], -2);
    binaryScalarFloat(19)(fa, Elements::Each, fb, Elements::Each, y, 4, 4);
    EXPECT_EQ(y[0], -1);
    EXPECT_EQ(y[3], 1);
}

}  // namespace
}  // namespace mnnc::test
