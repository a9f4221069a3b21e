// Nets of one operator that reads indices from a tensor, and its results for valid ones, for the tests of the CPU and
// of devices.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <functional>

#include "net_builder.h"
#include "public_session.h"

namespace mnnc::test {

using Ints = std::vector<int32_t>;
using Floats = std::vector<float>;

class IndexNet : public NetBuilder {
  public:
    int constant(Ints dims, Ints values) {
        const int id = tensor();
        net_.oplists.push_back(makeIntConst(id, std::move(dims), std::move(values)));
        return id;
    }
    int constant(Ints dims, Floats values) {
        const int id = tensor();
        net_.oplists.push_back(makeConst(id, std::move(dims), std::move(values)));
        return id;
    }
    int indexed(wire::OpType type, Ints inputs) {
        const int id = tensor();
        net_.oplists.push_back(makeOp(type, "indexed", std::move(inputs), {id}));
        return id;
    }
    template <typename Table>
    int indexed(wire::OpType type, Ints inputs, Table table) {
        const int id = tensor();
        net_.oplists.push_back(makeOp(type, "indexed", std::move(inputs), {id}, std::move(table)));
        return id;
    }
    int gather(int data, int indices, int axis) {
        wire::AxisT table;
        table.axis = axis;
        return indexed(wire::OpType::Gather, {data, indices}, std::move(table));
    }
};

struct IndexCase {
    std::string name;
    Ints dataDims, indexDims;
    Ints good;      // no negative ones
    size_t at;      // the element of the indices that is replaced
    int extent;     // of the axis that it counts along
    int later;      // a later element that also becomes wrong
    int share = 0;  // the part of the batch in that element
    std::function<int(IndexNet&, int data, int indices)> add;
    // the results for indices that are not negative
    std::function<Floats(const Floats& data, const Ints& indices)> wanted;

    // Returns the net with the indices as an input, or as these constants.
    std::vector<uint8_t> model(const Ints* constants = nullptr) const {
        IndexNet net;
        const int data = net.relu(net.input(dataDims));
        const int indices = constants ? net.constant(indexDims, *constants) : net.ints(indexDims);
        return pack(net.finish({net.relu(add(net, data, indices))}));
    }
    Ints with(int32_t index) const {
        Ints indices = good;
        indices[at] = index + share;
        return indices;
    }
    Floats data() const {
        Floats values(static_cast<size_t>(product(dataDims)));
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000 + 1);
        return values;
    }
    std::string sentence(int32_t index) const {
        return "op 'indexed': index " + std::to_string(index) + " (element " + std::to_string(at) +
               " of the indices) is outside of an axis of extent " + std::to_string(extent);
    }
    static int64_t product(const Ints& dims) {
        int64_t result = 1;
        for (const int32_t dim : dims) result *= dim;
        return result;
    }
};

// Lists every operator of the families of Gather and Scatter.
inline std::vector<IndexCase> indexCases() {
    std::vector<IndexCase> cases;
    const auto rows = [](const Floats& data, const Ints& indices) {  // along axis 1 of (3, 5, 8)
        Floats result;
        for (size_t o = 0; o < 3; ++o)
            for (const int32_t index : indices)
                for (size_t i = 0; i < 8; ++i) result.push_back(data[(o * 5 + static_cast<size_t>(index)) * 8 + i]);
        return result;
    };
    cases.push_back({"Gather",
                     {3, 5, 8},
                     {7},
                     {0, 4, 2, 2, 1, 3, 0},
                     3,
                     5,
                     5,
                     0,
                     [](IndexNet& net, int data, int indices) { return net.gather(data, indices, 1); },
                     rows});
    cases.push_back({"GatherOfTwo",
                     {3, 5, 8},
                     {2},
                     {4, 1},
                     0,
                     5,
                     1,
                     0,
                     [](IndexNet& net, int data, int indices) { return net.gather(data, indices, 1); },
                     rows});
    cases.push_back({"GatherV2",
                     {3, 5, 8},
                     {7},
                     {0, 4, 2, 2, 1, 3, 0},
                     0,
                     5,
                     6,
                     0,
                     [](IndexNet& net, int data, int indices) {
                         return net.indexed(wire::OpType::GatherV2, {data, indices, net.constant({}, Ints{1})});
                     },
                     rows});
    cases.push_back({"Embedding",
                     {50, 7},
                     {2, 3},
                     {7, 49, 0, 1, 30, 2},
                     4,
                     50,
                     5,
                     0,
                     [](IndexNet& net, int data, int indices) {
                         return net.indexed(wire::OpType::GatherV2, {data, indices});
                     },
                     [](const Floats& data, const Ints& indices) {
                         Floats result;
                         for (const int32_t index : indices)
                             for (int i = 0; i < 7; ++i) result.push_back(data[static_cast<size_t>(index * 7 + i)]);
                         return result;
                     }});
    cases.push_back({"GatherND",
                     {4, 5, 6},
                     {3, 2},
                     {0, 1, 3, 4, 2, 0},
                     3,
                     5,
                     4,
                     0,
                     [](IndexNet& net, int data, int indices) {
                         return net.indexed(wire::OpType::GatherND, {data, indices});
                     },
                     [](const Floats& data, const Ints& indices) {
                         Floats result;
                         for (size_t r = 0; r < indices.size(); r += 2)
                             for (int i = 0; i < 6; ++i)
                                 result.push_back(data[static_cast<size_t>((indices[r] * 5 + indices[r + 1]) * 6 + i)]);
                         return result;
                     }});
    // Two batches of tables of 3 x 4: converters add the 12 of the second to its indices.
    cases.push_back({"GatherNDBatched",
                     {2, 3, 4, 5},
                     {2, 3, 2},
                     {0, 3, 2, 2, 1, 0, 12, 12, 14, 15, 13, 13},
                     9,
                     4,
                     10,
                     12,
                     [](IndexNet& net, int data, int indices) {
                         wire::AxisT batch;
                         batch.axis = 1;
                         return net.indexed(wire::OpType::GatherND, {data, indices}, std::move(batch));
                     },
                     [](const Floats& data, const Ints& indices) {
                         Floats result;
                         for (size_t r = 0; r < indices.size(); r += 2) {
                             const int batch = r >= 6, row = indices[r] - 12 * batch;
                             const int place = (batch * 3 + row) * 4 + indices[r + 1] - 12 * batch;
                             for (int i = 0; i < 5; ++i) result.push_back(data[static_cast<size_t>(place * 5 + i)]);
                         }
                         return result;
                     }});
    cases.push_back({"GatherElements",
                     {3, 5, 8},
                     {3, 2, 4},
                     Ints(24, 3),
                     13,
                     5,
                     20,
                     0,
                     [](IndexNet& net, int data, int indices) {
                         return net.indexed(wire::OpType::GatherElements, {data, indices, net.constant({}, Ints{1})});
                     },
                     [](const Floats& data, const Ints& indices) {
                         Floats result;
                         for (size_t i = 0; i < indices.size(); ++i)
                             result.push_back(data[(i / 8 * 5 + static_cast<size_t>(indices[i])) * 8 + i % 4]);
                         return result;
                     }});
    // Codes of the schema: replace, add, subtract, multiply, minimum, maximum.
    for (const int reduction : {-1, 0, 1, 2, 8, 9}) {
        const auto combine = [reduction](float& to, float value) {
            if (reduction < 0)
                to = value;
            else if (reduction == 0)
                to += value;
            else if (reduction == 1)
                to -= value;
            else if (reduction == 2)
                to *= value;
            else
                to = reduction == 8 ? std::min(to, value) : std::max(to, value);
            to = std::max(to, 0.0f);  // the net's last operator, which no later update changes here
        };
        const auto table = [reduction] {
            wire::BinaryOpT binary;
            binary.opType = static_cast<wire::BinaryOpOperation>(reduction);
            return binary;
        };
        cases.push_back({"ScatterNd" + std::to_string(reduction),
                         {3, 4},
                         {3, 1},
                         {4, 0, 2},
                         1,
                         5,
                         2,
                         0,
                         [table, reduction](IndexNet& net, int data, int indices) {
                             const Ints inputs{indices, data, net.constant({2}, Ints{5, 4}),
                                               net.constant({5, 4}, Floats(20, 30.0f))};
                             // Without a table of parameters the operator replaces elements.
                             return reduction < 0 ? net.indexed(wire::OpType::ScatterNd, inputs)
                                                  : net.indexed(wire::OpType::ScatterNd, inputs, table());
                         },
                         [combine](const Floats& data, const Ints& indices) {
                             Floats result(20, 30.0f);
                             for (size_t r = 0; r < 3; ++r)
                                 for (size_t i = 0; i < 4; ++i)
                                     combine(result[static_cast<size_t>(indices[r]) * 4 + i], data[r * 4 + i]);
                             return result;
                         }});
        cases.push_back(
            {"ScatterElements" + std::to_string(reduction),
             {5, 4},
             {2, 3},
             {4, 0, 2, 1, 3, 0},
             2,
             5,
             5,
             0,
             [table](IndexNet& net, int data, int indices) {
                 return net.indexed(
                     wire::OpType::ScatterElements,
                     {data, indices, net.constant({2, 3}, Floats{1, 2, 3, 4, 5, 6}), net.constant({}, Ints{0})},
                     table());
             },
             [combine](const Floats& data, const Ints& indices) {
                 Floats result = data;
                 for (size_t i = 0; i < 6; ++i)
                     combine(result[static_cast<size_t>(indices[i]) * 4 + i % 3], static_cast<float>(i + 1));
                 return result;
             }});
    }
    return cases;
}

inline void expectRight(const PublicSession& session, const IndexCase& one, Ints indices, int32_t index) {
    indices[one.at] = one.share + (index < 0 ? index + one.extent : index);
    EXPECT_EQ(session.read(), one.wanted(one.data(), indices)) << "index " << index;
}

// Wrong indices end the run with the same sentence each time, and the next run is right.
inline void expectIndicesOfRuns(const IndexCase& one, const PublicSession::Mode& mode) {
    SCOPED_TRACE(one.name + ", " + mode.name);
    PublicSession session(one.model(), mode);
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    EXPECT_EQ(session.backendOf("indexed"), mode.forward == MNN_FORWARD_CPU ? "cpu" : "vulkan");
    session.write(0, one.data());
    for (const int32_t bad : {one.extent, -one.extent - 1, INT32_MIN, INT32_MAX}) {
        if (one.share && (bad == INT32_MAX)) continue;  // there is no room for the batch's part
        Ints indices = one.with(bad);
        indices[static_cast<size_t>(one.later)] = bad == one.extent ? INT32_MIN : 1000;
        session.write(1, indices);
        for (int round = 0; round < 2; ++round) {
            EXPECT_EQ(session.run(), MNN_ERROR_INPUT_DATA) << "index " << bad;
            EXPECT_EQ(session.error, one.sentence(bad));
        }
        for (const int32_t index : {-one.extent, one.extent - 1, 0, -1}) {
            session.write(1, one.with(index));
            ASSERT_EQ(session.run(), MNN_OK) << session.error;
            expectRight(session, one, one.good, index);
        }
    }
}

// Wrong indices in a constant are refused when the session is created.
inline void expectConstantIndices(const IndexCase& one, const PublicSession::Mode& mode) {
    SCOPED_TRACE(one.name + ", constant, " + mode.name);
    for (const int32_t bad : {one.extent, -one.extent - 1, INT32_MIN, INT32_MAX}) {
        if (one.share && (bad == INT32_MAX)) continue;
        const Ints indices = one.with(bad);
        const PublicSession session(one.model(&indices), mode);
        EXPECT_EQ(session.created, MNN_ERROR_INPUT_DATA);
        EXPECT_EQ(session.error, one.sentence(bad));
    }
    for (const int32_t index : {-one.extent, one.extent - 1}) {
        const Ints indices = one.with(index);
        PublicSession session(one.model(&indices), mode);
        ASSERT_EQ(session.created, MNN_OK) << session.error;
        session.write(0, one.data());
        ASSERT_EQ(session.run(), MNN_OK) << session.error;
        expectRight(session, one, one.good, index);
    }
}

}  // namespace mnnc::test
