// Convolution3D and ConvTranspose3D against plain loops in double precision, and refused parameters.
#include "ops/convolution3d.h"

#include <cmath>
#include <type_traits>

#include "op_harness.h"

namespace mnnc::test {
namespace {

struct Case {
    int channels, filters, group;
    Ints kernel, stride, dilate, pads;  // pads: begin, end
    Shape input;
};

float wave(size_t i) {
    return std::sin(static_cast<float>(i) * 0.7f + 0.3f);
}

wire::Convolution3DT tableOf(const Case& c, bool transposed) {
    wire::Convolution3DT table;
    table.common = std::make_unique<wire::Convolution3DCommonT>();
    table.common->kernels = c.kernel;
    table.common->strides = c.stride;
    table.common->dilates = c.dilate;
    table.common->pads = c.pads;
    table.common->inputCount = c.channels;
    table.common->outputCount = c.filters;
    table.common->group = c.group;
    const int rows = transposed ? c.channels : c.filters, columns = (transposed ? c.filters : c.channels) / c.group;
    table.weight.resize(static_cast<size_t>(rows * columns * c.kernel[0] * c.kernel[1] * c.kernel[2]));
    for (size_t i = 0; i < table.weight.size(); ++i) table.weight[i] = wave(i * 3 + 1);
    table.bias.resize(static_cast<size_t>(c.filters));
    for (size_t i = 0; i < table.bias.size(); ++i) table.bias[i] = wave(i + 5);
    return table;
}

// The operator with this table, which stays in memory.
class Written {
  public:
    explicit Written(const wire::Convolution3DT& table) {
        const auto main = wire::CreateConvolution3D(builder_, &table).Union();
        wire::OpBuilder op(builder_);
        op.add_main_type(wire::OpParameter::Convolution3D);
        op.add_main(main);
        builder_.Finish(op.Finish());
    }

    std::shared_ptr<Conv3dParams> params(OpType type) const {
        Node node;
        node.type = type;
        node.name = "tested";
        static const std::aligned_storage_t<64> noModel{};
        const auto* op = flatbuffers::GetRoot<wire::Op>(builder_.GetBufferPointer());
        const ParamsPtr parsed = findOpDef(type)->parse(*op, {reinterpret_cast<const Model&>(noModel), node});
        auto params = std::make_shared<Conv3dParams>(paramsAs<Conv3dParams>(parsed.get(), "tested"));
        params->model = nullptr;
        return params;
    }

  private:
    flatbuffers::FlatBufferBuilder builder_;
};

Value convolved(OpType type, const wire::Convolution3DT& table, const Value& x, int threads = 1) {
    const Written written(table);
    return OpRun(type, written.params(type), "", threads)({x})[0];
}

// Adds every product of an input element and a weight to its output.
std::vector<double> expected(const Case& c, const wire::Convolution3DT& table, const Value& x, const Shape& out,
                             bool transposed) {
    std::vector<double> y(static_cast<size_t>(out.elements()));
    const int64_t inGroup = c.channels / c.group, outGroup = c.filters / c.group;
    const Shape& in = x.shape;
    const int64_t taps = int64_t{c.kernel[0]} * c.kernel[1] * c.kernel[2];
    const auto offset = [](const Shape& s, int64_t n, int64_t ch, const int64_t(&at)[3]) {
        return static_cast<size_t>((((n * s[1] + ch) * s[2] + at[0]) * s[3] + at[1]) * s[4] + at[2]);
    };
    const Shape& small = transposed ? in : out;  // its elements are a stride apart in the other one
    const Shape& large = transposed ? out : in;
    for (int64_t n = 0; n < in[0]; ++n)
        for (int64_t o = 0; o < c.filters; ++o)
            for (int64_t i = 0; i < inGroup; ++i)
                for (int64_t t = 0; t < taps; ++t)
                    for (int64_t p = 0; p < small[2] * small[3] * small[4]; ++p) {
                        const int64_t g = o / outGroup, channel = g * inGroup + i;
                        const int64_t tap[3] = {t / (int64_t{c.kernel[1]} * c.kernel[2]), t / c.kernel[2] % c.kernel[1],
                                                t % c.kernel[2]};
                        const int64_t at[3] = {p / (small[3] * small[4]), p / small[4] % small[3], p % small[4]};
                        int64_t far[3];
                        bool inside = true;
                        for (int a = 0; a < 3; ++a) {
                            const auto u = static_cast<size_t>(a);
                            far[a] = at[a] * c.stride[u] + tap[a] * c.dilate[u] - c.pads[u];
                            inside &= far[a] >= 0 && far[a] < large[a + 2];
                        }
                        if (!inside) continue;
                        const int64_t weight =
                            transposed ? (channel * outGroup + o % outGroup) * taps + t : (o * inGroup + i) * taps + t;
                        const size_t from = transposed ? offset(in, n, channel, at) : offset(in, n, channel, far);
                        const size_t to = transposed ? offset(out, n, o, far) : offset(out, n, o, at);
                        y[to] += double{x.data[from]} * table.weight[static_cast<size_t>(weight)];
                    }
    const int64_t volume = out[2] * out[3] * out[4];
    for (size_t i = 0; i < y.size(); ++i)
        y[i] += table.bias[i / static_cast<size_t>(volume) % static_cast<size_t>(c.filters)];
    return y;
}

void expectRight(const Case& c, bool transposed) {
    const OpType type = transposed ? OpType::ConvTranspose3D : OpType::Convolution3D;
    const wire::Convolution3DT table = tableOf(c, transposed);
    Value x{c.input, std::vector<float>(static_cast<size_t>(c.input.elements())), Format::NC4HW4, {}};
    for (size_t i = 0; i < x.data.size(); ++i) x.data[i] = wave(i);
    const Value y = convolved(type, table, x);
    const std::vector<double> want = expected(c, table, x, y.shape, transposed);
    double largest = 1;
    for (const double v : want) largest = std::max(largest, std::abs(v));
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(y.data[i], want[i], 2e-5 * largest) << i;
}

TEST(Convolution3d, AgreesWithPlainLoops) {
    const Ints one{1, 1, 1}, none{0, 0, 0, 0, 0, 0}, all{1, 1, 1, 1, 1, 1};
    expectRight({3, 5, 1, {3, 3, 3}, one, one, all, {2, 3, 4, 6, 5}}, false);
    expectRight({37, 18, 1, {3, 3, 3}, one, one, all, {1, 37, 3, 9, 8}}, false);
    expectRight({32, 33, 1, {2, 3, 1}, {2, 1, 2}, {1, 2, 1}, {1, 0, 0, 2, 1, 1}, {2, 32, 5, 6, 5}}, false);
    expectRight({20, 6, 2, {3, 2, 2}, one, {2, 1, 1}, {2, 0, 1, 2, 1, 0}, {2, 20, 4, 4, 3}}, false);
    expectRight({34, 34, 34, {3, 3, 3}, one, one, all, {1, 34, 4, 5, 6}}, false);
    expectRight({34, 34, 34, {3, 5, 7}, {2, 1, 1}, {1, 2, 1}, {1, 4, 3, 1, 4, 3}, {2, 34, 5, 9, 11}}, false);
    expectRight({20, 20, 20, {3, 1, 1}, {2, 1, 1}, {2, 1, 1}, {2, 0, 0, 2, 0, 0}, {3, 20, 7, 4, 3}}, false);
    // There are outputs that no tap in depth reaches, in front and behind, and inputs that no output reads.
    expectRight({18, 18, 18, {2, 3, 3}, one, one, {4, 1, 1, 3, 1, 1}, {1, 18, 3, 5, 4}}, false);
    expectRight({18, 18, 18, {2, 2, 2}, {1, 2, 2}, one, {-1, 0, 0, -1, 0, 0}, {1, 18, 6, 5, 4}}, false);
    expectRight({19, 7, 1, {3, 1, 1}, {2, 1, 1}, one, {1, 0, 0, 1, 0, 0}, {2, 19, 5, 4, 3}}, false);
    expectRight({19, 7, 1, one, one, one, none, {2, 19, 3, 4, 3}}, false);
    expectRight({4, 3, 1, {2, 2, 2}, one, one, {-1, 0, 0, 0, -1, 0}, {1, 4, 5, 4, 4}}, false);
}

TEST(ConvTranspose3d, AgreesWithPlainLoops) {
    const Ints one{1, 1, 1}, none{0, 0, 0, 0, 0, 0};
    expectRight({3, 5, 1, {2, 2, 2}, {2, 2, 2}, one, none, {2, 3, 3, 4, 3}}, true);
    expectRight({37, 18, 1, {3, 3, 3}, {2, 1, 2}, one, {1, 1, 1, 1, 1, 1}, {1, 37, 3, 4, 3}}, true);
    expectRight({18, 4, 2, {2, 1, 2}, {3, 2, 1}, one, none, {1, 18, 2, 3, 3}}, true);
    expectRight({5, 4, 1, {3, 1, 1}, {2, 1, 1}, {2, 1, 1}, {1, 0, 0, 0, 0, 0}, {2, 5, 3, 2, 4}}, true);
    expectRight({17, 17, 17, {2, 2, 3}, {1, 2, 1}, {3, 1, 1}, none, {1, 17, 3, 2, 3}}, true);
}

TEST(Convolution3d, ThreadsAndStoragesChangeNoBit) {
    const Ints one{1, 1, 1}, three{3, 3, 3}, all{1, 1, 1, 1, 1, 1};
    for (const Case& c : {Case{37, 40, 1, three, one, one, all, {1, 37, 4, 15, 14}},
                          Case{37, 37, 37, three, one, one, all, {1, 37, 4, 15, 14}}}) {
        const wire::Convolution3DT table = tableOf(c, false);
        Value x{c.input, std::vector<float>(static_cast<size_t>(c.input.elements())), Format::NCHW, {}};
        for (size_t i = 0; i < x.data.size(); ++i) x.data[i] = wave(i);
        const Value plain = convolved(OpType::Convolution3D, table, x);
        x.format = Format::NC4HW4;
        EXPECT_EQ(convolved(OpType::Convolution3D, table, x).data, plain.data);
        EXPECT_EQ(convolved(OpType::Convolution3D, table, x, 4).data, plain.data);
    }
}

void expectRefused(const wire::Convolution3DT& table, const Shape& input, Status status, const std::string& part) {
    try {
        convolved(OpType::Convolution3D, table, iota(input));
        ADD_FAILURE() << "accepted instead of: " << part;
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), status) << error.what();
        EXPECT_NE(error.message().find(part), std::string::npos) << error.what();
    }
}

TEST(Convolution3d, RefusesWhatDoesNotFit) {
    const Case c{4, 6, 1, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {}, {1, 4, 3, 3, 3}};
    wire::Convolution3DT table = tableOf(c, false);
    expectRefused(table, {1, 4, 3, 3}, Status::ComputeSizeError, "an input of rank 5 is needed");
    expectRefused(table, {1, 5, 3, 3, 3}, Status::ComputeSizeError,
                  "the input has 5 channels, the weights are for 4 in 1 groups");
    expectRefused(table, {1, 4, 0, 3, 3}, Status::ComputeSizeError, "has an empty volume");
    table.weight.pop_back();
    expectRefused(table, {1, 4, 3, 3, 3}, Status::BadWeights, "191 weights, 192 are needed");
    table = tableOf(c, false);
    table.bias.pop_back();
    expectRefused(table, {1, 4, 3, 3, 3}, Status::BadWeights,
                  "the bias has 5 values, one for each of 6 outputs is needed");
    table = tableOf(c, false);
    table.common->group = 3;
    expectRefused(table, {1, 4, 3, 3, 3}, Status::ComputeSizeError, "3 groups do not divide 4 input and 6 output");
    table.common->kernels = {2, 2};
    expectRefused(table, {1, 4, 3, 3, 3}, Status::BadParameter, "kernels has 2 values, 3 are needed");
    table = tableOf(c, false);
    table.common->pads = {1, 1, 1, 1};
    expectRefused(table, {1, 4, 3, 3, 3}, Status::BadParameter, "pads has 4 values, 3 or 6 are needed");
    table = tableOf(c, false);
    table.common->strides = {1, 0, 1};
    expectRefused(table, {1, 4, 3, 3, 3}, Status::BadParameter, "strides is 0, allowed are 1 to 1048576");
    table = tableOf(c, false);
    table.common->hasOutputShape = true;
    expectRefused(table, {1, 4, 3, 3, 3}, Status::NotSupported, "is given its output shape");
}

TEST(Convolution3d, AnEmptyBatchGivesAnEmptyOutput) {
    const Case c{4, 6, 1, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {}, {0, 4, 3, 3, 3}};
    const wire::Convolution3DT table = tableOf(c, false);
    EXPECT_EQ(convolved(OpType::Convolution3D, table, iota({0, 4, 3, 3, 3})).shape, (Shape{0, 6, 2, 2, 2}));
}

}  // namespace
}  // namespace mnnc::test
