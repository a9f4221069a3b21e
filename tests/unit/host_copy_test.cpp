// Copies of whole tensors between storages and the public layouts, element by element against their definitions.
#include "tensor/host_copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace mnnc::test {
namespace {

struct Place {
    int64_t n, c, s;  // batch, channel, position in the plane
    int64_t batch, channels, plane;
};

int64_t blocked(const Place& p, int64_t lanes, bool blocksFirst) {
    const int64_t blocks = (p.channels + lanes - 1) / lanes, block = p.c / lanes;
    const int64_t image = blocksFirst ? block * p.batch + p.n : p.n * blocks + block;
    return (image * p.plane + p.s) * lanes + p.c % lanes;
}

int64_t offsetIn(Format layout, const Place& p) {
    if (layout == Format::NC4HW4) return blocked(p, 4, true);
    return layout == Format::NHWC ? (p.n * p.plane + p.s) * p.channels + p.c : (p.n * p.channels + p.c) * p.plane + p.s;
}

int64_t offsetIn(const Operand& tensor, const Place& p) {
    if (tensor.channelBlock > 1) return blocked(p, tensor.channelBlock, false);
    return offsetIn(tensor.format, p);
}

// Returns bytes that identify the place of an element.
uint32_t mark(const Place& p) {
    return static_cast<uint32_t>((p.n * 131 + p.c) * 1031 + p.s + 7) * 2654435761u;
}

class HostCopy : public testing::TestWithParam<DataType> {
  protected:
    void check(int64_t batch, int64_t channels, int64_t h, int64_t w, int64_t block, Format format, Format layout) {
        SCOPED_TRACE(testing::Message() << batch << " x " << channels << " x " << h << " x " << w << ", block " << block
                                        << ", format " << int(format) << ", layout " << int(layout));
        Operand tensor;
        tensor.type = GetParam();
        tensor.format = format;
        tensor.channelBlock = static_cast<int>(block);
        tensor.shape = format == Format::NHWC ? Shape{batch, h, w, channels} : Shape{batch, channels, h, w};
        const size_t width = elementBytes(tensor.type);
        const auto stored = static_cast<size_t>(tensor.storageBytes());
        std::vector<char> storage(stored, 0x11);
        // The data begins at the second byte, so that nothing is aligned.
        std::vector<char> buffer(static_cast<size_t>(hostBytes(tensor, layout)) + 2, 0x22);
        char* const host = buffer.data() + 1;
        const auto each = [&](auto&& body) {
            for (int64_t n = 0; n < batch; ++n)
                for (int64_t c = 0; c < channels; ++c)
                    for (int64_t s = 0; s < h * w; ++s) body(Place{n, c, s, batch, channels, h * w});
        };
        each([&](const Place& p) {
            const uint32_t value = mark(p);
            std::memcpy(storage.data() + offsetIn(tensor, p) * int64_t(width), &value, width);
        });
        copyToHost(tensor, storage.data(), host, layout);
        each([&](const Place& p) {
            const uint32_t value = mark(p);
            ASSERT_EQ(std::memcmp(host + offsetIn(layout, p) * int64_t(width), &value, width), 0)
                << "to the host " << p.n << " " << p.c << " " << p.s;
        });
        EXPECT_EQ(buffer.front(), 0x22);
        EXPECT_EQ(buffer.back(), 0x22);
        const std::vector<char> before = storage;
        std::vector<char> fresh(stored, 0x33);
        copyFromHost(tensor, fresh.data(), host, layout);
        each([&](const Place& p) {
            const int64_t at = offsetIn(tensor, p) * int64_t(width);
            ASSERT_EQ(std::memcmp(fresh.data() + at, before.data() + at, width), 0)
                << "from the host " << p.n << " " << p.c << " " << p.s;
        });
    }
};

TEST_P(HostCopy, EachStorageAndLayout) {
    const int64_t shapes[][4] = {{1, 1, 1, 1},  {2, 3, 1, 1},   {1, 21, 9, 7}, {3, 48, 1, 1},
                                 {2, 37, 1, 1}, {2, 16, 5, 13}, {3, 37, 1, 3}, {1, 2, 11, 13}};
    for (const auto& [batch, channels, h, w] : shapes)
        for (const int64_t block : {1, 4, 8, 16})
            for (const Format format : {Format::NCHW, Format::NHWC})
                for (const Format layout : {Format::NCHW, Format::NHWC, Format::NC4HW4})
                    if (block == 1 || format == Format::NCHW) check(batch, channels, h, w, block, format, layout);
}

TEST(HostCopy, RowsOfWholeBlocksOfChannelsAreRowMajor) {
    Operand tensor;
    tensor.format = Format::NCHW;
    tensor.channelBlock = 16;
    tensor.shape = {3, 48, 1, 1};
    EXPECT_TRUE(sameLayout(tensor, Format::NCHW));
    EXPECT_TRUE(sameLayout(tensor, Format::NHWC));
    EXPECT_FALSE(sameLayout(tensor, Format::NC4HW4));
    tensor.shape = {3, 48};
    EXPECT_TRUE(sameLayout(tensor, Format::NC4HW4));
    tensor.shape = {3, 40, 1, 1};
    EXPECT_FALSE(sameLayout(tensor, Format::NCHW));
    tensor.shape = {3, 48, 1, 2};
    EXPECT_FALSE(sameLayout(tensor, Format::NCHW));
}

INSTANTIATE_TEST_SUITE_P(Types, HostCopy, testing::Values(DataType::Float32, DataType::Int16, DataType::Int8));

}  // namespace
}  // namespace mnnc::test
