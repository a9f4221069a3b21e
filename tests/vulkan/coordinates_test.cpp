// Precision Low keeps coordinates in 32 bits: positions on a map of 1,024 pixels, boxes and indices equal those of the
// CPU; 16 bits would move them by up to half a pixel.
#include "coordinate_net.h"

namespace mnnc::vulkan::test {

TEST(Coordinates, FedGrid) {
    CoordinateNet net;
    const int map = net.input({1, 3, 2, kWidth});
    EXPECT_EQ(expectExactPlaces(net.done(net.sample(map, net.input({1, 3, kPlaces, 2})))), "GridSample on vulkan");
}

// A flow of two planes, added to places, scaled to [-1, 1] and interleaved.
TEST(Coordinates, ComputedGrid) {
    CoordinateNet net;
    const int map = net.input({1, 3, 2, kWidth});
    const int flow = net.affine(net.input({1, 2, 3, kPlaces}), 77, 512);
    const std::vector<int> planes = net.split(flow, 1, {1});
    const int x = net.affine(planes[0], 2.0f / kWidth, -1), y = net.affine(planes[1], 0.5f, -1);
    const int grid = net.permute(net.concat({x, y}, 1), {0, 2, 3, 1});
    const std::string places = expectExactPlaces(net.done(net.sample(map, grid)));
    EXPECT_EQ(places.find("cpu"), std::string::npos) << places;
}

// Other operators read the same tensor in 16 bits, and their results are as exact as that allows.
TEST(Coordinates, SharedWithOtherOperators) {
    CoordinateNet net;
    const int map = net.input({1, 3, 2, kWidth});
    const int grid = net.affine(net.input({1, 3, kPlaces, 2}), 0.3f, 0.05f);
    const int sampled = net.sample(map, grid);
    const int other = net.softmax(grid, 3), both = net.binary(BinaryOpOperation::MUL, other, grid);
    expectNetSameAsCpu(net.finish({sampled, other, both, grid}), 2e-3,
                       [](BackendConfig& backend) { backend.precision = Precision::Low; });
}

// There are more parts than a word has bits.
TEST(Coordinates, GridOfManyParts) {
    CoordinateNet net;
    const int map = net.input({1, 3, 2, kWidth});
    std::vector<int> parts;
    for (int i = 0; i < 70; ++i)
        parts.push_back(net.affine(net.input({1, 1, 2, 2}), 0.3f, 0.001f * static_cast<float>(i)));
    const std::string places = expectExactPlaces(net.done(net.sample(map, net.concat(parts, 1))), 2e-3);
    EXPECT_EQ(places.find("cpu"), std::string::npos) << places;
}

TEST(Coordinates, AffineGrid) {
    CoordinateNet net;
    const int map = net.input({1, 3, 2, kWidth});
    const int points = net.affine(net.input({1, kPlaces, 3}), 0.3f, 0);
    const int theta = net.affine(net.input({1, 3, 2}), 0.3f, 0);
    const int grid = net.reshape(net.matmul(points, theta), {1, 1, kPlaces, 2});
    EXPECT_NE(expectExactPlaces(net.done(net.sample(map, grid))).find("MatMul on vulkan"), std::string::npos);
}

// The result of a convolution has 16 bits; the kernel gets it in 32 bits. The map is smooth.
TEST(Coordinates, GridOfAConvolution) {
    CoordinateNet net;
    const int map = net.resize(net.input({1, 3, 2, 8}), 2, 2, kWidth);
    const int flow = net.unary(wire::UnaryOpOperation::TANH, net.conv(net.input({1, 4, 3, kPlaces}), 4, 2, 1));
    const std::string places = expectExactPlaces(net.done(net.sample(map, net.permute(flow, {0, 2, 3, 1}))), 2e-2);
    EXPECT_EQ(places.find("cpu"), std::string::npos) << places;
}

TEST(Coordinates, BoxesOfAlignedRegions) {
    CoordinateNet net;
    const int map = net.input({1, 3, 2, kWidth});
    const std::vector<int> parts = net.split(net.input({kPlaces, 2}), 1, {1});
    const int x = net.affine(parts[0], 150, 512), y = net.affine(parts[1], 0.1f, 0.5f);
    const int boxes = net.concat({x, y, net.affine(x, 1, 3.3f), net.affine(y, 1, 1)}, 1);
    const std::string places =
        expectExactPlaces(net.done(net.align(map, {boxes, net.ints({kPlaces}, std::vector<int32_t>(kPlaces))})));
    EXPECT_EQ(places.find("cpu"), std::string::npos) << places;
}

// The operator runs on the host, with values that the device computed.
TEST(Coordinates, BoxesForTheHost) {
    CoordinateNet net;
    const int map = net.permute(net.input({1, 3, 2, kWidth}), {0, 2, 3, 1});
    const int corner = net.affine(net.input({kPlaces, 2}), 0.15f, 0.5f);
    const int boxes = net.concat({corner, net.affine(corner, 1, 0.01f)}, 1);
    const int pictures = net.ints({kPlaces}, std::vector<int32_t>(kPlaces));
    EXPECT_NE(expectExactPlaces(net.done(net.crop(map, boxes, pictures))).find("CropAndResize on cpu"),
              std::string::npos);
}

// With 16 bits these boxes would be points.
TEST(Coordinates, BoxesOfASuppression) {
    CoordinateNet net;
    const int corner = net.affine(net.input({kPlaces, 2}), 0.02f, 900);
    const int boxes = net.concat({corner, net.affine(corner, 1, 0.05f)}, 1);
    const int scores = net.input({kPlaces});
    const int kept = net.suppress(net.reshape(boxes, {kPlaces, 4}), scores);
    const int output = net.relu(net.cast(kept, wire::DataType::DT_INT32, wire::DataType::DT_FLOAT));
    const wire::NetT built = net.done(output);
    const std::string places = expectExactPlaces(built, 0);
    EXPECT_NE(places.find("ElementwiseChain on vulkan"), std::string::npos) << places;
    EXPECT_NE(places.find("NonMaxSuppressionV2 on vulkan"), std::string::npos) << places;
    const size_t hits = mnnc::test::runNet(built).outputs[0].size();
    EXPECT_GT(hits, 1u);
    EXPECT_LT(hits, static_cast<size_t>(kPlaces));
}

// One stage computes the boxes, and a later one finds out which of them are read.
TEST(Coordinates, BoxesOfALaterStage) {
    CoordinateNet net;
    const int map = net.input({1, 3, 2, kWidth});
    const std::vector<int> parts = net.split(net.input({kPlaces, 2}), 1, {1});
    const int x = net.affine(parts[0], 150, 512), y = net.affine(parts[1], 0.1f, 0.5f);
    const int boxes = net.concat({x, y, net.affine(x, 1, 3.3f), net.affine(y, 1, 1)}, 1);
    const int kept = net.rows(boxes, net.suppress(boxes, net.input({kPlaces})));
    const int picture = net.affine(net.split(kept, 1, {1})[0], 0, 0);
    const std::string places = expectExactPlaces(net.done(net.align(map, {net.concat({picture, kept}, 1)})));
    EXPECT_NE(places.find("ROIAlign on vulkan"), std::string::npos) << places;
}

// 16 bits do not represent odd numbers above 2,048.
TEST(Coordinates, NumbersThatBecomeIntegers) {
    CoordinateNet net;
    const int x = net.affine(net.input({1, 3, 2, kPlaces}), 100, 4096);
    const int index = net.cast(x, wire::DataType::DT_FLOAT, wire::DataType::DT_INT32);
    const int small = net.binary(BinaryOpOperation::SUB, index, net.ints({1}, {4096}));
    const int output = net.cast(small, wire::DataType::DT_INT32, wire::DataType::DT_FLOAT);
    const std::string places = expectExactPlaces(net.done(output), 0);
    EXPECT_EQ(places.find("cpu"), std::string::npos) << places;
}

// Scores between 0.92 and 0.98, where 16 bits have 120 values. Their order is that of the results.
TEST(Coordinates, ScoresThatAreSorted) {
    CoordinateNet net;
    const int scores = net.affine(net.input({1, 200}), 0.01f, 0.95f);
    const std::vector<int> best = net.top(scores, 50);
    const int places = net.cast(best[1], wire::DataType::DT_INT32, wire::DataType::DT_FLOAT);
    const wire::NetT built = net.finish({places});
    const std::string on = expectExactPlaces(built, 0);
    EXPECT_NE(on.find("TopKV2 on vulkan"), std::string::npos) << on;
    EXPECT_EQ(on.find("cpu"), std::string::npos) << on;
}

// Among nearly equal boxes the best one is kept.
TEST(Coordinates, ScoresOfBoxes) {
    CoordinateNet net;
    const int corner = net.affine(net.input({kPlaces, 2}), 0.02f, 0);
    const int boxes = net.concat({corner, net.affine(corner, 1, 0.05f)}, 1);
    const int scores = net.affine(net.input({kPlaces}), 0.001f, 0.95f);
    const int kept = net.cast(net.suppress(boxes, scores), wire::DataType::DT_INT32, wire::DataType::DT_FLOAT);
    expectExactPlaces(net.done(net.relu(kept)), 0);
}

}  // namespace mnnc::vulkan::test
