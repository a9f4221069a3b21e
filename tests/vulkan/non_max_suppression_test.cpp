// NonMaxSuppressionV2: the search on the device keeps the boxes that the CPU keeps, for all boxes and scores.
#include "ops/non_max_suppression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "coordinate_net.h"
#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Takes boxes [boxes, 4] and scores [boxes], or boxes [batch, boxes, 4] and scores [batch, classes, boxes].
OpCase search(const Value& boxes, const Value& scores, int64_t most, std::optional<float> share = {},
              std::optional<float> score = {}) {
    auto params = std::make_shared<NmsParams>();
    params->batched = scores.shape.rank() > 1;
    if (params->batched) {
        params->batch = scores.shape[0];
        params->classes = scores.shape[1];
    }
    params->boxes = boxes.shape[boxes.shape.rank() - 2];
    params->maxKept = std::min(most, params->boxes);
    OpCase c;
    c.type = OpType::NonMaxSuppressionV2;
    c.params = params;
    const auto limit = [](std::optional<float> value) {
        Value given;
        given.shape = Shape{value ? 1 : 0};
        if (value) given.floats = {*value};
        return given;
    };
    c.inputs = {boxes, scores, randomInts({1}, 3, 5, 5), limit(share), limit(score)};
    Value kept, counts;
    kept.shape = {params->batch * params->classes * params->maxKept};
    counts.shape = params->batched ? Shape{params->batch, params->classes} : Shape{1};
    kept.isInt = counts.isInt = true;
    c.outputs = {kept, counts};
    return c;
}

// Returns boxes with sizes between 1 and 3, in a square of this size.
Value boxesIn(float square, const Shape& shape, uint32_t seed) {
    Value value = randomValue(shape, seed, 0, square);
    const Value sizes = randomValue(shape, seed + 1, 1, 3);
    for (size_t i = 0; i < value.floats.size(); ++i)
        if (i % 4 >= 2) value.floats[i] = value.floats[i - 2] + sizes.floats[i];
    return value;
}

Value rounded(Value value, float steps) {
    for (float& one : value.floats) one = std::round(one * steps) / steps;
    return value;
}

}  // namespace

TEST(NonMaxSuppression, Forms) {
    for (const auto& [count, most] :
         {std::tuple{int64_t{1}, int64_t{1}}, {2, 9}, {33, 5}, {127, 127}, {131, 200}, {300, 1}}) {
        expectSameAsCpu(search(boxesIn(9, {count, 4}, 1), randomValue({count}, 2), most, 0.3f), 0, 0);
        for (const auto& [batch, classes] : {std::pair{int64_t{2}, int64_t{3}}, {1, 7}, {3, 1}})
            expectSameAsCpu(
                search(boxesIn(9, {batch, count, 4}, 3), randomValue({batch, classes, count}, 4), most, 0.4f, 0.25f), 0,
                0);
    }
}

// There are more boxes than a list holds, all of which or few of which are kept, and more results than a block.
TEST(NonMaxSuppression, ManyBoxes) {
    for (const float square : {12.0f, 400.0f}) {
        expectSameAsCpu(search(boxesIn(square, {3001, 4}, 1), randomValue({3001}, 2), 3001, 0.5f), 0, 0);
        expectSameAsCpu(search(boxesIn(square, {1, 1025, 4}, 1), randomValue({1, 2, 1025}, 2), 700, 0.1f, 0.0f), 0, 0);
    }
}

// The search keeps 8,400 boxes: drivers that limit the iterations of a shader's loop would end a loop over all of them.
TEST(NonMaxSuppression, AllOfManyBoxesApart) {
    Value boxes = boxesIn(0, {8400, 4}, 1);
    for (size_t i = 0; i < boxes.floats.size(); ++i) boxes.floats[i] += static_cast<float>(i / 4);
    expectSameAsCpu(search(boxes, randomValue({8400}, 2), 8400, 0.6f), 0, 0);
}

// The scores are like those of a detector with 80 classes: most of them are below the limit.
TEST(NonMaxSuppression, EightyClasses) {
    Value scores = randomValue({1, 80, 8400}, 2, 0, 1);
    for (float& score : scores.floats) score = std::pow(score, 9.0f);
    expectSameAsCpu(search(boxesIn(60, {1, 8400, 4}, 1), scores, 100, 0.45f, 0.7f), 0, 0);
}

// Lists end among equal scores, zeros have either sign, and boxes coincide: the order must be that of the CPU.
TEST(NonMaxSuppression, Ties) {
    for (const float steps : {0.0f, 2.0f, 50.0f}) {
        Value scores = rounded(randomValue({2600}, 2), std::max(steps, 1.0f));
        if (steps == 0)
            for (size_t i = 0; i < scores.floats.size(); ++i) scores.floats[i] = i % 3 ? 0.0f : -0.0f;
        expectSameAsCpu(search(boxesIn(200, {2600, 4}, 1), scores, 2600, 0.2f, -3.0f), 0, 0);
        expectSameAsCpu(search(rounded(boxesIn(20, {2600, 4}, 1), 1), scores, 90, 0.5f, -0.0f), 0, 0);
    }
}

// A box whose share equals the limit is kept; with the next float below the limit it is removed.
TEST(NonMaxSuppression, ShareOfTheLimit) {
    Value boxes = rounded(boxesIn(6, {90, 4}, 1), 1);
    const Value scores = randomValue({90}, 2);
    for (const float limit : {1.0f / 3, 0.5f, 0.25f, 1.0f / 7, 0.2f, 1.0f, 2.0f / 3})
        for (const float given : {limit, std::nextafterf(limit, 0), std::nextafterf(limit, 2)})
            expectSameAsCpu(search(boxes, scores, 90, given), 0, 0);
}

TEST(NonMaxSuppression, LimitsThatAreNoNumbers) {
    const Value boxes = boxesIn(6, {140, 4}, 1), scores = randomValue({140}, 2);
    for (const float limit : {kNan, kInfinity, -kInfinity, -1.0f, -0.0f, 0.0f}) {
        expectSameAsCpu(search(boxes, scores, 140, limit), 0, 0);
        expectSameAsCpu(search(boxes, scores, 140, 0.4f, limit), 0, 0);
    }
    expectSameAsCpu(search(boxes, scores, 140), 0, 0);
}

TEST(NonMaxSuppression, BoxesAndScoresThatAreNone) {
    Value boxes = boxesIn(7, {190, 4}, 1), scores = randomValue({190}, 2);
    for (size_t i = 0; i < 190; ++i) {
        float* box = boxes.floats.data() + 4 * i;
        if (i % 5 == 1) std::swap(box[0], box[2]);
        if (i % 5 == 2) std::swap(box[1], box[3]);
        if (i % 11 == 3) box[2] = box[0];
        if (i % 13 == 4) box[i % 4] = kNan;
        if (i % 17 == 5) box[i % 4] = i % 2 ? kInfinity : -kInfinity;
        if (i % 7 == 6) scores.floats[i] = i % 2 ? kNan : -kNan;
        if (i % 19 == 7) scores.floats[i] = i % 2 ? kInfinity : -kInfinity;
    }
    expectSameAsCpu(search(boxes, scores, 190, 0.3f), 0, -1);
    expectSameAsCpu(search(boxes, scores, 190, 0.3f, -kInfinity), 0, -1);
}

TEST(NonMaxSuppression, Refused) {
    expectRefused(search(boxesIn(3, {0, 4}, 1), randomValue({0}, 2), 5, 0.5f), "takes boxes and scores");
    expectRefused(search(boxesIn(3, {90, 4}, 1), randomValue({90}, 2), 0, 0.5f), "keeps boxes");
    expectRefused(search(boxesIn(3, {1, 2, 4}, 1), randomValue({1, 20000, 2}, 2), 1, 0.5f),
                  "16384 pictures and classes");
    expectRefused(search(boxesIn(900, {140000, 4}, 1), randomValue({140000}, 2), 5, 0.5f), "131072 boxes");
}

// The number of results differs between runs, and the operators that read them are planned for each.
TEST(NonMaxSuppression, RunsOfASession) {
    CoordinateNet net;
    const int boxes = net.input({kPlaces, 4}), scores = net.input({kPlaces});
    const int kept = net.suppress(boxes, scores);
    const int floats = net.cast(kept, wire::DataType::DT_INT32, wire::DataType::DT_FLOAT);
    const NetResult result = expectNetSameAsCpu(net.done(net.relu(floats)), 0);
    EXPECT_NE(placesOf(result).find("NonMaxSuppressionV2 on vulkan"), std::string::npos) << placesOf(result);
    EXPECT_GT(result.outputs[0].size(), 1u);
    EXPECT_LT(result.outputs[0].size(), size_t{kPlaces});
}

}  // namespace mnnc::vulkan::test
