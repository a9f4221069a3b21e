// The shapes of the elements of a sequence.
#include "tensor/tensor_list.h"

#include <gtest/gtest.h>

#include "ops/tensor_array.h"

namespace mnnc::test {
namespace {

TEST(TensorList, CountsNeighboursOfOneShape) {
    TensorList list(3, true, {2, 2});
    list.append({2, true, {2, 2}});
    list.append({1, true, {5}});
    list.append({0, true, {7}});
    list.append({2, false, {}});
    EXPECT_EQ(list.runs().size(), 3u);
    EXPECT_EQ(list.size(), 8);
    EXPECT_EQ(list.total(), 25);
    EXPECT_EQ(list.offset(5), 20);
    EXPECT_EQ(list.offset(6), 25);
    EXPECT_EQ(list.offset(8), 25);
    EXPECT_EQ(list.at(5).shape.text(), "5");
    EXPECT_FALSE(list.at(6).known);
    EXPECT_THROW(list.at(8), Error);
    const TensorList part = list.part(4, 6);
    EXPECT_EQ(part.size(), 2);
    EXPECT_EQ(part.total(), 9);
    EXPECT_TRUE(list.part(6, 6) == TensorList());
    EXPECT_FALSE(TensorList(2, true, {1}) == TensorList(2, false, {1}));
    EXPECT_THROW(TensorList(INT64_MAX, true, {2}).total(), Error);
}

TEST(TensorList, TheFirstElementGivesTheOthersTheirShape) {
    const TensorList unknown(3, false, {});
    EXPECT_TRUE(writtenList(unknown, 1, {4}) == TensorList(3, true, {4}));
    EXPECT_TRUE(writtenList(unknown, 5, {4}) == TensorList(6, true, {4}));
    TensorList grown = writtenList(TensorList(1, true, {2}), 3, {5});
    EXPECT_EQ(grown.size(), 4);
    EXPECT_FALSE(grown.at(2).known);
    EXPECT_EQ(grown.total(), 7);
    EXPECT_TRUE(writtenList(TensorList(3, true, {2}), 1, {2}) == TensorList(3, true, {2}));
}

}  // namespace
}  // namespace mnnc::test
