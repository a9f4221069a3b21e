// Indices outside of their tables end in MNN_ERROR_INPUT_DATA on a device as on the CPU, with the same sentences.
#include <algorithm>

#include "unit/index_cases.h"

namespace mnnc::test {
namespace {

const PublicSession::Mode kModes[] = {{"indirect", MNN_FORWARD_VULKAN, 2, MNN_GPU_RECORD_BATCH},
                                      {"direct", MNN_FORWARD_VULKAN, 2, MNN_GPU_RECORD_OP}};

TEST(IndexCheck, BadIndicesOfARun) {
    for (const PublicSession::Mode& mode : kModes)
        for (const IndexCase& one : indexCases()) expectIndicesOfRuns(one, mode);
}

TEST(IndexCheck, BadConstantIndices) {
    for (const IndexCase& one : indexCases())
        if (one.name == "Embedding" || one.name == "GatherNDBatched" || one.name == "GatherElements")
            expectConstantIndices(one, kModes[0]);
}

// The indices take several groups of the check; operators on the device produce the data and the indices.
TEST(IndexCheck, TheFirstOfManyIsReported) {
    constexpr int32_t kCount = 10000, kExtent = 300;
    for (const PublicSession::Mode& mode : kModes) {
        SCOPED_TRACE(mode.name);
        IndexNet net;
        const int data = net.relu(net.input({kExtent, 4})), indices = net.ints({kCount});
        const int shifted = net.binary(wire::BinaryOpOperation::ADD, indices, net.constant({}, Ints{1}));
        PublicSession session(pack(net.finish({net.relu(net.gather(data, shifted, 0))})), mode);
        ASSERT_EQ(session.created, MNN_OK) << session.error;
        EXPECT_EQ(session.backendOf("indexed"), "vulkan");
        Floats table(kExtent * 4);
        for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i);
        session.write(0, table);
        Ints good(kCount);
        for (int32_t i = 0; i < kCount; ++i) good[static_cast<size_t>(i)] = i * 7 % kExtent - 1;
        for (const std::vector<size_t>& places :
             {std::vector<size_t>{9999, 9000}, {9999, 4096, 8192}, {4095, 4097}, {0, 63, 64}}) {
            Ints bad = good;
            for (const size_t at : places) bad[at] = static_cast<int32_t>(at) + kExtent;
            session.write(1, bad);
            EXPECT_EQ(session.run(), MNN_ERROR_INPUT_DATA);
            const size_t first = *std::min_element(places.begin(), places.end());
            EXPECT_EQ(session.error, "op 'indexed': index " + std::to_string(first + kExtent + 1) + " (element " +
                                         std::to_string(first) +
                                         " of the indices) is outside of an axis of extent 300");
            session.write(1, good);
            ASSERT_EQ(session.run(), MNN_OK) << session.error;
            const Floats rows = session.read();
            for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(rows[4 * i], static_cast<float>((good[i] + 1) * 4)) << i;
        }
    }
}

// The sentence is about the first operator that read a wrong index, and later ones do not use it.
TEST(IndexCheck, TheFirstOfTwoOperatorsIsReported) {
    IndexNet net;
    const int data = net.relu(net.input({8, 10})), indices = net.ints({9});
    const int rows = net.gather(data, indices, 0), columns = net.gather(rows, indices, 1);
    PublicSession session(pack(net.finish({net.relu(columns)})), kModes[0]);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    session.write(0, Floats(80, 2.0f));
    for (const auto& [bad, extent] : {std::pair{9, 8}, {INT32_MAX, 8}, {-9, 8}}) {
        session.write(1, Ints{0, 1, 2, 3, bad, 5, 6, 7, 7});
        EXPECT_EQ(session.run(), MNN_ERROR_INPUT_DATA);
        EXPECT_EQ(session.error, "op 'indexed': index " + std::to_string(bad) +
                                     " (element 4 of the indices) is outside of an axis of extent " +
                                     std::to_string(extent));
    }
    session.write(1, Ints{0, 1, 2, 3, 4, 5, 6, 7, -1});
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(session.read(), Floats(81, 2.0f));
}

}  // namespace
}  // namespace mnnc::test
