// Constants of a model: which of them are copied, the conversion of their types, and which are refused.
#include <cstring>

#include "model/const_data.h"
#include "model/const_floats.h"
#include "model/stored_floats.h"

#include "model_builder.h"

namespace mnnc::test {
namespace {

ConstData decodeConst(const wire::BlobT& blob, flatbuffers::DetachedBuffer& keep) {
    keep = packTable<wire::Blob>(blob);
    return decodeBlob(*flatbuffers::GetRoot<wire::Blob>(keep.data()), nullptr, "const");
}

TEST(ConstData, SmallIsCopiedLargeIsBorrowed) {
    flatbuffers::DetachedBuffer keep;
    wire::BlobT blob;
    blob.float32s = {7};
    const ConstData scalar = decodeConst(blob, keep);
    EXPECT_TRUE(scalar.dims.empty());
    EXPECT_EQ(scalar.count, 1);
    EXPECT_EQ(scalar.bytes.data(), scalar.owned.data());
    EXPECT_EQ(scalar.dataType, 1);

    flatbuffers::DetachedBuffer keepLarge;
    blob.dims = {10000};
    blob.float32s.assign(10000, 7);
    const ConstData large = decodeConst(blob, keepLarge);
    EXPECT_EQ(large.bytes.size(), 40000u);
    EXPECT_TRUE(large.owned.empty());
}

TEST(ConstData, HalfBecomesFloat) {
    flatbuffers::DetachedBuffer keep;
    wire::BlobT blob;
    blob.dims = {2};
    blob.dataType = wire::DataType::DT_HALF;
    blob.uint8s = {0x00, 0x3C, 0x00, 0xC0};
    const ConstData data = decodeConst(blob, keep);
    EXPECT_EQ(data.dataType, 1);
    float values[2];
    ASSERT_EQ(data.bytes.size(), sizeof values);
    std::memcpy(values, data.bytes.data(), sizeof values);
    EXPECT_EQ(values[0], 1.0f);
    EXPECT_EQ(values[1], -2.0f);
}

TEST(ConstData, Int64Saturates) {
    flatbuffers::DetachedBuffer keep;
    wire::BlobT blob;
    blob.dims = {3};
    blob.dataType = wire::DataType::DT_INT64;
    blob.int64s = {INT64_MAX, INT64_MIN, -5};
    const ConstData data = decodeConst(blob, keep);
    EXPECT_EQ(data.dataType, 3);
    int32_t values[3];
    ASSERT_EQ(data.bytes.size(), sizeof values);
    std::memcpy(values, data.bytes.data(), sizeof values);
    EXPECT_EQ(values[0], INT32_MAX);
    EXPECT_EQ(values[1], INT32_MIN);
    EXPECT_EQ(values[2], -5);
}

// Only data that the file has in the form of a run may be read from it piece by piece.
TEST(ConstData, PlainFloatsAreARange) {
    wire::BlobT blob;
    blob.dims = {10, 300};
    for (int i = 0; i < 3001; ++i) blob.float32s.push_back(static_cast<float>(i));
    const auto rangeOf = [](const wire::BlobT& made) {
        const flatbuffers::DetachedBuffer keep = packTable<wire::Blob>(made);
        const auto range = plainFloats(*flatbuffers::GetRoot<wire::Blob>(keep.data()), nullptr, "const");
        std::vector<float> values;
        if (!range) return values;
        FloatSource source(*range);
        EXPECT_EQ(source.size(), 3000u);
        for (size_t at = 0; at < source.size(); at += 600) {
            const float* const piece = source.at(at, 600);
            values.insert(values.end(), piece, piece + 600);
        }
        return values;
    };
    const std::vector<float> values = rangeOf(blob);
    EXPECT_EQ(values, std::vector<float>(blob.float32s.begin(), blob.float32s.end() - 1));
    blob.dataFormat = wire::MNN_DATA_FORMAT::NC4HW4;
    blob.float32s.resize(3600);
    EXPECT_TRUE(rangeOf(blob).empty());
    blob.dataFormat = wire::MNN_DATA_FORMAT::NCHW;
    blob.float32s.resize(2999);
    expectFailure(Status::BadWeights, "11996 bytes, its shape needs 12000", [&] { rangeOf(blob); });
    blob.dataType = wire::DataType::DT_HALF;
    blob.uint8s.resize(6000);
    EXPECT_TRUE(rangeOf(blob).empty());
}

TEST(ConstData, OtherTypesAreRefused) {
    flatbuffers::DetachedBuffer keep;
    wire::BlobT blob;
    blob.dataType = wire::DataType::DT_DOUBLE;
    expectFailure(Status::BadType, "data type 2", [&] { decodeConst(blob, keep); });
    blob.dataType = wire::DataType::DT_INT32;
    expectFailure(Status::BadWeights, "0 bytes, its shape needs 4", [&] { decodeConst(blob, keep); });
}

}  // namespace
}  // namespace mnnc::test
