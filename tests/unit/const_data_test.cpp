// Constants of a model: which are copied, how their types are converted, and which are refused.
#include <cstring>

#include "model/const_data.h"

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
