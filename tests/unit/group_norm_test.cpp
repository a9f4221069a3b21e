// Refused parameters and shapes of GroupNorm and SplitGeLU.
#include <gtest/gtest.h>

#include "net_builder.h"

namespace mnnc::test {
namespace {

class Net : public NetBuilder {
  public:
    wire::NetT groupNorm(const std::vector<std::vector<int32_t>>& shapes, wire::GroupNormT table) {
        return finish({add(wire::OpType::GroupNorm, inputs(shapes), std::move(table))});
    }
    wire::NetT splitGelu(const std::vector<std::vector<int32_t>>& shapes) {
        const int y = add(wire::OpType::SplitGeLU, inputs(shapes), wire::AxisT());
        return finish({y});
    }

  private:
    std::vector<int32_t> inputs(const std::vector<std::vector<int32_t>>& shapes) {
        std::vector<int32_t> ids;
        for (const std::vector<int32_t>& shape : shapes) ids.push_back(input(shape));
        return ids;
    }
};

wire::GroupNormT groups(int count, size_t gamma = 0, size_t beta = 0) {
    wire::GroupNormT table;
    table.group = count;
    table.gamma.assign(gamma, 1);
    table.beta.assign(beta, 1);
    return table;
}
void refuses(wire::GroupNormT table, Status status, const std::string& part,
             const std::vector<std::vector<int32_t>>& shapes = {{2, 6, 3, 3}}) {
    Net net;
    const wire::NetT built = net.groupNorm(shapes, std::move(table));
    expectFailure(status, part, [&] { runNet(built); });
}

TEST(GroupNorm, RefusesContradictions) {
    refuses(groups(0), Status::BadParameter, "0 groups");
    refuses(groups(-2), Status::BadParameter, "-2 groups");
    refuses(groups(2, 6, 5), Status::BadParameter, "6 gamma values but 5 beta values");
    refuses(groups(2, 5, 5), Status::ComputeSizeError, "has 5 channel values");
    refuses(groups(4), Status::ComputeSizeError, "6 channels cannot be cut into 4 groups");
    wire::GroupNormT swish = groups(2);
    swish.bSwish = 2;
    refuses(std::move(swish), Status::BadParameter, "bSwish is 2");
    refuses(groups(2), Status::ComputeSizeError, "needs channels", {{6}});
    refuses(groups(2), Status::ComputeSizeError, "one value for each channel", {{2, 6, 3, 3}, {2, 5}});
    refuses(groups(2), Status::ComputeSizeError, "one value for each channel", {{2, 6, 3, 3}, {2, 6, 2}});
    refuses(groups(2), Status::NotSupported, "3 inputs", {{2, 6, 3, 3}, {2, 6}, {2, 6}});
    wire::GroupNormT external = groups(2);
    external.external = {0, 4, 4};
    refuses(std::move(external), Status::NotSupported, "another file");
}

TEST(GroupNorm, GammaOrBetaAlone) {
    const auto values = [](size_t gamma, size_t beta) {
        Net net;
        return runNet(net.groupNorm({{1, 2, 4}}, groups(1, gamma, beta))).outputs.at(0);
    };
    const std::vector<float> plain = values(0, 0), scaled = values(2, 0), moved = values(0, 2);
    ASSERT_EQ(plain.size(), size_t{8});
    for (size_t i = 0; i < plain.size(); ++i) {
        EXPECT_FLOAT_EQ(scaled[i], plain[i]);
        EXPECT_FLOAT_EQ(moved[i], plain[i] + 1);
    }
}

TEST(SplitGelu, RefusesWhatHasNoHalves) {
    const auto refused = [](const std::vector<std::vector<int32_t>>& shapes, Status status, const std::string& part) {
        Net net;
        const wire::NetT built = net.splitGelu(shapes);
        expectFailure(status, part, [&] { runNet(built); });
    };
    refused({{2, 5}}, Status::ComputeSizeError, "2x5 has no halves");
    refused({{}}, Status::ComputeSizeError, "has no halves");
    refused({{2, 6}, {3}}, Status::ComputeSizeError, "6 values are expected");
    refused({{2, 6}, {6}, {6}}, Status::NotSupported, "3 inputs");
}

}  // namespace
}  // namespace mnnc::test
