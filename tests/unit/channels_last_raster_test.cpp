// Transpositions: between maps whose channels come last and packed ones, where whole vectors move, and between
// row-major tensors, in squares.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "net_builder.h"

namespace mnnc::test {
namespace {

float given(size_t i) {
    return 3 * std::sin(static_cast<float>(i * 7 + 1));
}

struct Map {
    int batch, channels, height, width;
};

// Returns the input, [batch][height][width][channels], in the order [batch][channels][height][width].
std::vector<float> channelsFirst(const Map& m) {
    std::vector<float> out;
    for (int n = 0; n < m.batch; ++n)
        for (int c = 0; c < m.channels; ++c)
            for (int p = 0; p < m.height * m.width; ++p)
                out.push_back(given((size_t(n) * m.height * m.width + size_t(p)) * m.channels + size_t(c)));
    return out;
}

SessionConfig threads(int count) {
    SessionConfig config;
    config.backend.threads = count;
    return config;
}

const std::vector<Map> kMaps = {{1, 32, 8, 8},   {1, 35, 7, 9}, {2, 48, 5, 11},  {1, 5, 40, 40}, {3, 17, 6, 6},
                                {1, 100, 33, 1}, {2, 1, 9, 9},  {1, 70, 31, 37}, {1, 16, 1, 1},  {1, 33, 64, 64}};

TEST(ChannelsLastRaster, ChannelsBecomeFirstAndLastAgain) {
    for (const Map& m : kMaps)
        for (const int count : {1, 2}) {
            NetBuilder s;
            const int x = s.input({m.batch, m.height, m.width, m.channels});
            const int first = s.permute(x, {0, 3, 1, 2});
            const int last = s.permute(s.relu(first), {0, 2, 3, 1});  // packed if the Raster produced it so
            const NetResult result = runNet(s.finish({first, last}), threads(count));
            EXPECT_EQ(result.outputs[0], channelsFirst(m));
            ASSERT_EQ(result.outputs[1].size(), result.outputs[0].size());
            for (size_t i = 0; i < result.outputs[1].size(); ++i)
                ASSERT_EQ(result.outputs[1][i], std::max(given(i), 0.0f)) << i;
        }
}

// After a convolution the map is packed; before one it must be packed.
TEST(ChannelsLastRaster, BetweenConvolutions) {
    for (const Map& m : kMaps) {
        NetBuilder s;
        const int first = s.permute(s.input({m.batch, m.height, m.width, m.channels}), {0, 3, 1, 2});
        const int y = s.conv(first, m.channels, 21, 3);
        const int rows = s.reshape(s.permute(y, {0, 2, 3, 1}), {m.batch, m.height * m.width, 21});
        const int z = s.softmax(rows, 2);
        const wire::NetT net = s.finish({z});
        const NetResult fused = runNet(net), apart = runUnfused(net);
        ASSERT_EQ(fused.outputs[0].size(), apart.outputs[0].size());
        for (size_t i = 0; i < fused.outputs[0].size(); ++i)
            ASSERT_NEAR(fused.outputs[0][i], apart.outputs[0][i], 2e-5f) << i;
    }
}

TEST(ChannelsLastRaster, RowMajorTranspositions) {
    for (const auto& [rows, columns] : std::vector<std::pair<int, int>>{
             {32, 32}, {33, 47}, {31, 64}, {64, 31}, {300, 35}, {257, 1000}, {1000, 257}, {515, 64}})
        for (const int count : {1, 2}) {
            NetBuilder s;
            const int x = s.input({3, rows, columns});
            const NetResult result = runNet(s.finish({s.permute(x, {0, 2, 1})}), threads(count));
            size_t at = 0;
            for (int n = 0; n < 3; ++n)
                for (int c = 0; c < columns; ++c)
                    for (int r = 0; r < rows; ++r, ++at)
                        ASSERT_EQ(result.outputs[0][at],
                                  given((size_t(n) * size_t(rows) + size_t(r)) * size_t(columns) + size_t(c)))
                            << rows << " x " << columns << " at " << at;
        }
}

}  // namespace
}  // namespace mnnc::test
