// The order of operators: the file's where it is possible, otherwise one in which producers precede consumers.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "model/model.h"
#include "model_builder.h"

namespace mnnc::test {
namespace {

// A list of operators over tensors without meaning.
class OrderTest : public testing::Test {
  protected:
    void add(std::vector<int32_t> inputs, std::vector<int32_t> outputs) {
        for (const auto& ids : {inputs, outputs})
            for (const int32_t id : ids)
                while (net_.tensorName.size() <= static_cast<size_t>(id))
                    net_.tensorName.push_back("t" + std::to_string(net_.tensorName.size()));
        const std::string name = "op" + std::to_string(net_.oplists.size());
        if (inputs.empty()) return net_.oplists.push_back(makeInput(outputs[0]));
        net_.oplists.push_back(
            makeOp(wire::OpType::Concat, name, std::move(inputs), std::move(outputs), wire::AxisT()));
    }
    void addConst(int32_t id) {
        add({}, {id});
        net_.oplists.back() = makeConst(id, {1}, {1});
    }
    std::vector<uint32_t> order() { return loadNet(net_)->mainGraph().order; }
    std::string refusal(Status status) {
        try {
            order();
        } catch (const Error& error) {
            EXPECT_EQ(error.status(), status);
            return error.message();
        }
        return "it was accepted";
    }

    wire::NetT net_;
};

TEST_F(OrderTest, StaysAsItIs) {
    add({}, {0});
    add({0}, {1});
    add({0}, {2});
    add({1, 2}, {3});
    add({1}, {4});
    EXPECT_EQ(order(), (std::vector<uint32_t>{0, 1, 2, 3, 4}));
}

// Readers are moved behind their writers; nothing else moves.
TEST_F(OrderTest, ReadersMove) {
    add({}, {0});
    add({2}, {1});  // reads operator 3, which reads operator 4
    add({0}, {4});
    add({3}, {2});
    add({0}, {3});
    add({4}, {5});
    EXPECT_EQ(order(), (std::vector<uint32_t>{0, 2, 4, 3, 1, 5}));
}

// Two writers of tensor 1, a reader between them and one after them; the writers of a constant and its readers.
TEST_F(OrderTest, WritersAndReadersKeepTheirOrder) {
    add({}, {0});
    add({0}, {1});
    add({1}, {2});
    add({5}, {1});  // waits for operator 6, and the readers behind it wait with it
    add({1}, {3});
    add({4, 0}, {6});
    add({0}, {5});
    add({0}, {4});
    add({4}, {7});
    addConst(4);
    EXPECT_EQ(order(), (std::vector<uint32_t>{0, 1, 2, 5, 6, 3, 4, 7, 8, 9}));
}

TEST_F(OrderTest, ReadsWhatItWrites) {
    addConst(0);
    add({0}, {0});
    add({0}, {1, 1});
    EXPECT_EQ(order(), (std::vector<uint32_t>{0, 1, 2}));
}

TEST_F(OrderTest, CyclesAreRefused) {
    add({}, {0});
    add({0, 1}, {1});
    EXPECT_EQ(refusal(Status::Cycle), "operator 1 'op1' waits for its own result: operators read each other's outputs");
    net_.oplists.pop_back();
    add({0}, {4});
    add({0, 3}, {1});
    add({1}, {2});
    add({2}, {3});
    EXPECT_NE(refusal(Status::Cycle).find("operator 2 'op2'"), std::string::npos);
}

TEST_F(OrderTest, SeveralWritersBehindTheReader) {
    add({}, {0});
    add({1}, {2});
    add({0}, {1});
    add({0}, {1});
    EXPECT_EQ(refusal(Status::BadFormat),
              "operator 1 'op1' reads tensor 1, which has 2 writers that all come later: file order decides "
              "between several writers, so the tensor has no value there");
}

// In a shuffled graph each operator is placed after those that it reads, exactly once.
TEST_F(OrderTest, ShuffledGraphs) {
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        net_ = {};
        add({}, {0});
        const int operators = 2 + static_cast<int>(random() % 40);
        for (int i = 1; i <= operators; ++i) {
            std::vector<int32_t> inputs;
            for (uint32_t k = 1 + random() % 3; k > 0; --k)
                inputs.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(i)));
            add(inputs, {i});
        }
        std::shuffle(net_.oplists.begin(), net_.oplists.end(), random);
        const std::vector<uint32_t> sorted = order();
        std::vector<bool> made(net_.tensorName.size(), false);
        made[0] = true;
        ASSERT_EQ(sorted.size(), net_.oplists.size());
        for (const uint32_t at : sorted) {
            if (net_.oplists[at]->type == wire::OpType::Input) continue;  // available before all operators
            for (const int32_t id : net_.oplists[at]->inputIndexes) ASSERT_TRUE(made[static_cast<size_t>(id)]);
            ASSERT_FALSE(made[static_cast<size_t>(net_.oplists[at]->outputIndexes[0])]);
            made[static_cast<size_t>(net_.oplists[at]->outputIndexes[0])] = true;
        }
    }
}

}  // namespace
}  // namespace mnnc::test
