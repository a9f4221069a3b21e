// Layer normalisation that nets write with single operators runs as one command; conditions that prevent it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "net_builder.h"

namespace mnnc::test {
namespace {

enum class Square { Power, Product, Unary };
enum class Root { Sqrt, Rsqrt, Power };

class NormNet : public NetBuilder {
  public:
    int mean(int x, std::vector<int32_t> axes, bool keepDims = true) {
        wire::ReductionParamT table;
        table.operation = wire::ReductionType::MEAN;
        table.dim = std::move(axes);
        table.keepDims = keepDims;
        return add(wire::OpType::Reduction, {x}, std::move(table));
    }
    int square(int x, Square form) {
        if (form == Square::Power) return binary(BinaryCode::POW, x, scalar(2));
        return form == Square::Product ? binary(BinaryCode::MUL, x, x) : unary(UnaryCode::SQUARE, x);
    }
    int difference(int x, std::vector<int32_t> axes) { return binary(BinaryCode::SUB, x, mean(x, std::move(axes))); }
    int divided(int d, std::vector<int32_t> axes, Square form, Root root) {
        const int sum = binary(BinaryCode::ADD, mean(square(d, form), std::move(axes)), scalar(0.01f));
        if (root == Root::Sqrt) return binary(BinaryCode::REALDIV, d, unary(UnaryCode::SQRT, sum));
        return binary(BinaryCode::MUL, d,
                      root == Root::Rsqrt ? unary(UnaryCode::RSQRT, sum) : binary(BinaryCode::POW, sum, scalar(-0.5f)));
    }
    int norm(int x, std::vector<int32_t> axes, Square form = Square::Power, Root root = Root::Sqrt) {
        return divided(difference(x, axes), axes, form, root);
    }
};

void expectNorms(const wire::NetT& net, size_t norms, size_t ops) {
    const NetResult apart = runUnfused(net), together = runNet(net);
    EXPECT_EQ(apart.count("LayerNorm"), 0u);
    EXPECT_EQ(together.count("LayerNorm"), norms);
    EXPECT_EQ(together.ops.size(), ops) << testing::PrintToString(together.types());
    for (size_t o = 0; o < apart.outputs.size(); ++o)
        for (size_t i = 0; i < apart.outputs[o].size(); ++i)
            ASSERT_NEAR(together.outputs[o][i], apart.outputs[o][i], 2e-5) << "element " << i;
}

TEST(RecogniseNorms, AllForms) {
    for (const Square square : {Square::Power, Square::Product, Square::Unary})
        for (const Root root : {Root::Sqrt, Root::Rsqrt, Root::Power}) {
            NormNet s;
            expectNorms(s.finish({s.norm(s.input({2, 5, 7}), {2}, square, root)}), 1, 1);
        }
}

TEST(RecogniseNorms, AxesWithFactorsAndTerms) {
    struct Form {
        std::vector<int32_t> axes, extents;
    };
    for (const Form& form :
         {Form{{-1}, {6}}, Form{{1}, {4, 1, 1}}, Form{{2, 3}, {5, 6}}, Form{{1, 2, 3}, {1, 4, 5, 6}}}) {
        for (const bool factors : {true, false})
            for (const bool terms : {true, false}) {
                NormNet s;
                int y = s.norm(s.input({2, 4, 5, 6}), form.axes);
                if (factors) y = s.binary(BinaryCode::MUL, s.constant(form.extents), y);
                if (terms) y = s.binary(BinaryCode::ADD, y, s.constant(form.extents));
                expectNorms(s.finish({y}), 1, 1);
            }
    }
}

TEST(RecogniseNorms, OtherUsesPreventIt) {
    {  // the caller reads the difference
        NormNet s;
        const int d = s.difference(s.input({2, 5, 7}), {2});
        expectNorms(s.finish({s.divided(d, {2}, Square::Power, Root::Sqrt), d}), 0, 6);
    }
    {  // variances over other axes
        NormNet s;
        const int d = s.difference(s.input({2, 5, 7}), {2});
        expectNorms(s.finish({s.divided(d, {1}, Square::Power, Root::Sqrt)}), 0, 6);
    }
    {  // axes with another one between them
        NormNet s;
        expectNorms(s.finish({s.norm(s.input({2, 5, 7}), {0, 2})}), 0, 6);
    }
    {  // factors of rows that are not normalised are applied after it
        NormNet s;
        const int y = s.binary(BinaryCode::MUL, s.norm(s.input({2, 5, 7}), {2}), s.constant({5, 1}));
        expectNorms(s.finish({y}), 1, 2);
    }
}

}  // namespace
}  // namespace mnnc::test
