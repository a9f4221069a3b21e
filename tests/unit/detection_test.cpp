// Detection operators: exact rows of small nets, NaN and infinite contents, and parameters that do not fit.
#include <gtest/gtest.h>

#include <limits>

#include "model_builder.h"
#include "op_harness.h"

namespace mnnc::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Table postProcess(const std::function<void(wire::DetectionPostProcessParamT&)>& change = {}) {
    wire::DetectionPostProcessParamT p;
    p.maxDetections = 2;
    p.maxClassesPerDetection = 1;
    p.detectionsPerClass = 2;
    p.numClasses = 1;
    p.nmsScoreThreshold = 0.5f;
    p.iouThreshold = 0.5f;
    p.centerSizeEncoding = {1, 1, 1, 1};
    if (change) change(p);
    return [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateDetectionPostProcessParam(b, &p)); };
}

// Anchors in a row, each as wide as the distance between them; encodings of 0 do not move them.
std::vector<Value> boxesInARow(const std::vector<float>& scores) {
    const auto count = static_cast<int64_t>(scores.size());
    std::vector<float> anchors;
    for (int64_t i = 0; i < count; ++i)
        for (const float value : {0.5f, static_cast<float>(i) + 0.5f, 1.0f, 1.0f}) anchors.push_back(value);
    return {floats({1, count, 4}, std::vector<float>(static_cast<size_t>(count * 4), 0.0f)),
            floats({1, count, 1}, scores), floats({count, 4}, anchors)};
}

TEST(DetectionPostProcess, BestFirst) {
    const auto rows = OpRun(OpType::DetectionPostProcess, postProcess())(boxesInARow({0.6f, 0.2f, 0.9f, 0.7f}), 4);
    EXPECT_EQ(rows[0].shape.text(), "1x2x4");
    EXPECT_EQ(rows[0].data, (std::vector<float>{0, 2, 1, 3, 0, 3, 1, 4}));
    EXPECT_EQ(rows[1].data, (std::vector<float>{0, 0}));
    EXPECT_EQ(rows[2].data, (std::vector<float>{0.9f, 0.7f}));
    EXPECT_EQ(rows[3].data, (std::vector<float>{2}));
}

TEST(DetectionPostProcess, ScoresThatAreNoNumbersAreLow) {
    for (const bool regular : {false, true}) {
        const Table table = postProcess([=](auto& p) { p.useRegularNMS = regular; });
        const auto rows =
            OpRun(OpType::DetectionPostProcess, table)(boxesInARow({kNan, 0.6f, kNan, kInfinity, kNan}), 4);
        EXPECT_EQ(rows[2].data, (std::vector<float>{kInfinity, 0.6f})) << regular;
        EXPECT_EQ(rows[3].data, (std::vector<float>{2})) << regular;
    }
}

TEST(DetectionPostProcess, BoxesThatAreNoNumbersSuppressNone) {
    auto inputs = boxesInARow({0.9f, 0.8f});
    inputs[0].data[2] = kInfinity;
    inputs[2].data[4] = kNan;
    EXPECT_EQ(OpRun(OpType::DetectionPostProcess, postProcess())(inputs, 4)[3].data, (std::vector<float>{2}));
}

// Loops over the classes of all pictures would run for days, although no tensor has an element.
TEST(DetectionPostProcess, NoBoxesOfVeryManyClassesTakeNoTime) {
    constexpr int kClasses = 1 << 30, kPictures = 1000;
    for (const bool regular : {false, true}) {
        const Table table = postProcess([=](auto& p) {
            p.useRegularNMS = regular;
            p.numClasses = kClasses;
        });
        const auto rows = OpRun(OpType::DetectionPostProcess, table)(
            {floats({kPictures, 0, 4}, {}), floats({kPictures, 0, kClasses}, {}), floats({0, 4}, {})}, 4);
        EXPECT_EQ(rows[2].data, std::vector<float>(2 * kPictures)) << regular;
        EXPECT_EQ(rows[3].data, std::vector<float>(kPictures)) << regular;
    }
}

TEST(DetectionPostProcess, ParametersThatDoNotFitAreRefused) {
    const auto refuse = [](Status status, const char* text,
                           const std::function<void(wire::DetectionPostProcessParamT&)>& change) {
        expectFailure(status, text, [&] {
            OpRun(OpType::DetectionPostProcess, postProcess(change))(boxesInARow({0.6f, 0.7f}), 4);
        });
    };
    refuse(Status::BadParameter, "maxDetections is -1", [](auto& p) { p.maxDetections = -1; });
    refuse(Status::BadParameter, "centerSizeEncoding has 3 values", [](auto& p) { p.centerSizeEncoding.pop_back(); });
    refuse(Status::BadParameter, "centerSizeEncoding is 0", [](auto& p) { p.centerSizeEncoding[2] = 0; });
    refuse(Status::BadParameter, "nmsScoreThreshold is nan", [](auto& p) { p.nmsScoreThreshold = kNan; });
    refuse(Status::ComputeSizeError, "do not fit together", [](auto& p) { p.numClasses = 2; });
    EXPECT_THROW(OpRun(OpType::DetectionPostProcess, postProcess([](auto& p) {
                           p.maxDetections = p.maxClassesPerDetection = 1 << 30;
                       }))(boxesInARow({0.6f}), 4),
                 Error);
}

Table detectionOutput(const std::function<void(wire::DetectionOutputT&)>& change = {}) {
    wire::DetectionOutputT p;
    p.classCount = 2;
    p.nmsThresholdold = 0.5f;
    p.keepTopK = 5;
    p.confidenceThreshold = 0.5f;
    p.shareLocation = 1;
    if (change) change(p);
    return [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateDetectionOutput(b, &p)); };
}

// Two prior boxes that touch; scores of the background and of one class.
std::vector<Value> twoPriors(float first, float second) {
    return {floats({1, 8}, std::vector<float>(8, 0.0f)), floats({1, 4}, {0, first, 0, second}),
            floats({1, 2, 8, 1}, {0, 0, 1, 1, 1, 0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1})};
}

TEST(DetectionOutput, AsManyRowsAsDetections) {
    const Value both = run(OpType::DetectionOutput, detectionOutput(), twoPriors(0.6f, 0.9f));
    EXPECT_EQ(both.shape.text(), "1x1x2x6");
    EXPECT_EQ(both.data, (std::vector<float>{1, 0.9f, 1, 0, 2, 1, 1, 0.6f, 0, 0, 1, 1}));
    EXPECT_EQ(shapeOf(OpType::DetectionOutput, detectionOutput(), twoPriors(kNan, 0.9f)), "1x1x1x6");
    EXPECT_EQ(shapeOf(OpType::DetectionOutput, detectionOutput(), twoPriors(kNan, 0.1f)), "1x1x0x6");
}

TEST(DetectionOutput, AFileThatDoesNotSayThatLocationsAreShared) {
    const Table table = detectionOutput([](auto& p) { p.shareLocation = 0; });
    EXPECT_EQ(shapeOf(OpType::DetectionOutput, table, twoPriors(0.6f, 0.9f)), "1x1x2x6");
}

TEST(DetectionOutput, ParametersThatDoNotFitAreRefused) {
    const auto refuse = [](Status status, const char* text, const std::function<void(wire::DetectionOutputT&)>& change,
                           std::vector<Value> inputs) {
        expectFailure(status, text, [&] { run(OpType::DetectionOutput, detectionOutput(change), inputs); });
    };
    const auto inputs = twoPriors(0.6f, 0.9f);
    refuse(
        Status::BadParameter, "classCount is 0", [](auto& p) { p.classCount = 0; }, inputs);
    refuse(
        Status::BadParameter, "codeType 4", [](auto& p) { p.codeType = 4; }, inputs);
    refuse(
        Status::BadParameter, "not a number", [](auto& p) { p.nmsThresholdold = kNan; }, inputs);
    refuse(
        Status::ComputeSizeError, "do not fit", [](auto& p) { p.classCount = 3; }, inputs);
    refuse(Status::BadParameter, "4 inputs", {}, {inputs[0], inputs[1], inputs[2], inputs[0]});
    auto batch = inputs;
    batch[0].shape = {2, 4};
    refuse(Status::NotSupported, "a batch of 2", {}, batch);
}

Table priorBox(const std::function<void(wire::PriorBoxT&)>& change = {}) {
    wire::PriorBoxT p;
    p.minSizes = {2};
    p.offset = 0.5f;
    if (change) change(p);
    return [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreatePriorBox(b, &p)); };
}

TEST(PriorBox, OneSizeInTwoCells) {
    const std::vector<Value> inputs = {iota({1, 1, 1, 2}), iota({1, 1, 4, 8})};
    const Value boxes = run(OpType::PriorBox, priorBox(), inputs);
    EXPECT_EQ(boxes.shape.text(), "1x2x8x1");
    EXPECT_EQ(std::vector<float>(boxes.data.begin(), boxes.data.begin() + 8),
              (std::vector<float>{0.125f, 0.25f, 0.375f, 0.75f, 0.625f, 0.25f, 0.875f, 0.75f}));
    EXPECT_EQ(boxes.data[8], 0.1f);
    const auto refuse = [&](const char* text, const std::function<void(wire::PriorBoxT&)>& change) {
        expectFailure(Status::BadParameter, text, [&] { run(OpType::PriorBox, priorBox(change), inputs); });
    };
    refuse("minSizes has the value -1", [](auto& p) { p.minSizes = {-1}; });
    refuse("2 maxSizes and 1 minSizes", [](auto& p) { p.maxSizes = {3, 4}; });
    refuse("3 variances", [](auto& p) { p.variances = {1, 2, 3}; });
    refuse("aspectRatios has the value 0", [](auto& p) { p.aspectRatios = {0}; });
}

Table proposal(const std::function<void(wire::ProposalT&)>& change = {}) {
    wire::ProposalT p;
    p.featStride = 4;
    p.baseSize = 4;
    p.afterNmsTopN = 2;
    p.nmsThreshold = 0.5f;
    p.ratios = std::make_unique<wire::BlobT>();
    p.ratios->float32s = {1};
    p.scales = std::make_unique<wire::BlobT>();
    p.scales->float32s = {1};
    if (change) change(p);
    flatbuffers::FlatBufferBuilder made;  // the table has members that cannot be copied
    made.Finish(wire::CreateProposal(made, &p));
    const std::vector<uint8_t> bytes(made.GetBufferPointer(), made.GetBufferPointer() + made.GetSize());
    return [=](flatbuffers::FlatBufferBuilder& b) {
        wire::ProposalT copy;
        flatbuffers::GetRoot<wire::Proposal>(bytes.data())->UnPackTo(&copy);
        return asParameter(wire::CreateProposal(b, &copy));
    };
}

std::vector<Value> twoCells(float first, float second) {
    return {floats({1, 2, 1, 2}, {0, 0, first, second}), floats({1, 4, 1, 2}, std::vector<float>(8, 0.0f)),
            floats({1, 3}, {8, 16, 1})};
}

TEST(Proposal, RowsBehindTheLastAreZero) {
    const Value rows = run(OpType::Proposal, proposal(), twoCells(0.5f, 0.75f));
    EXPECT_EQ(rows.shape.text(), "2x5x1x1");
    EXPECT_EQ(rows.data, (std::vector<float>{0, 4, 0, 8, 4, 0, 0, 0, 4, 4}));
    const Value one = run(OpType::Proposal, proposal(), twoCells(kNan, 0.75f));
    EXPECT_EQ(one.data, (std::vector<float>{0, 4, 0, 8, 4, 0, 0, 0, 0, 0}));
}

TEST(Proposal, ParametersThatDoNotFitAreRefused) {
    const auto refuse = [](Status status, const char* text, const std::function<void(wire::ProposalT&)>& change) {
        expectFailure(status, text, [&] { run(OpType::Proposal, proposal(change), twoCells(0.5f, 0.5f)); });
    };
    refuse(Status::BadParameter, "0 ratios", [](auto& p) { p.ratios->float32s.clear(); });
    refuse(Status::BadParameter, "scales has the value -2", [](auto& p) { p.scales->float32s = {-2}; });
    refuse(Status::BadParameter, "baseSize is -1", [](auto& p) { p.baseSize = -1; });
    refuse(Status::ComputeSizeError, "fit 2 anchors", [](auto& p) { p.scales->float32s = {1, 2}; });
}

}  // namespace
}  // namespace mnnc::test
