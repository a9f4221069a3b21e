// Producers and consumers of tensors while commands are replaced, erased and inserted.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/error.h"
#include "plan/graph.h"

namespace mnnc::test {
namespace {

using Id = CommandGraph::Id;

Command makeCommand(const char* name, std::vector<Operand*> inputs, std::vector<Operand*> outputs) {
    Command command;
    command.name = name;
    command.inputs = std::move(inputs);
    command.outputs = std::move(outputs);
    return command;
}

class CommandGraphTest : public ::testing::Test {
  protected:
    Operand* tensor() { return &tensors_.emplace_back(); }
    std::deque<Operand> tensors_;
    std::set<const Operand*> liveOut_;
    CommandGraph graph_{[this](const Operand* tensor) { return liveOut_.count(tensor) > 0; }};
};

TEST_F(CommandGraphTest, ProducersAndConsumers) {
    Operand *x = tensor(), *a = tensor(), *b = tensor(), *c = tensor();
    const Id first = graph_.append(makeCommand("first", {x}, {a}), 1);
    const Id second = graph_.append(makeCommand("second", {a}, {b}), 2);
    const Id third = graph_.append(makeCommand("third", {a, b}, {c}), 4);
    EXPECT_EQ(graph_.producer(x), CommandGraph::kNone);
    EXPECT_EQ(graph_.producerCount(x), 0u);
    EXPECT_EQ(graph_.producer(a), first);
    EXPECT_EQ(graph_.consumers(a), (std::vector<Id>{second, third}));
    EXPECT_EQ(graph_.onlyConsumer(a), CommandGraph::kNone);
    EXPECT_EQ(graph_.onlyConsumer(second), third);
    EXPECT_EQ(graph_.exclusiveProducer(b, third), second);
    EXPECT_EQ(graph_.exclusiveProducer(b, first), CommandGraph::kNone);
    liveOut_.insert(b);
    EXPECT_EQ(graph_.onlyConsumer(second), CommandGraph::kNone);
    graph_.verify();
}

TEST_F(CommandGraphTest, ATensorThatIsReadTwiceHasNoOnlyConsumer) {
    Operand *x = tensor(), *a = tensor(), *b = tensor();
    const Id first = graph_.append(makeCommand("first", {x}, {a}), 0);
    const Id square = graph_.append(makeCommand("square", {a, a}, {b}), 0);
    EXPECT_EQ(graph_.consumers(a), std::vector<Id>{square});
    EXPECT_EQ(graph_.onlyConsumer(first), CommandGraph::kNone);
}

TEST_F(CommandGraphTest, TwoProducersAreNone) {
    Operand *x = tensor(), *a = tensor(), *b = tensor();
    graph_.append(makeCommand("first", {x}, {a}), 0);
    graph_.append(makeCommand("again", {x}, {a}), 0);
    graph_.append(makeCommand("reader", {a}, {b}), 0);
    EXPECT_EQ(graph_.producer(a), CommandGraph::kNone);
    EXPECT_EQ(graph_.producerCount(a), 2u);
    EXPECT_EQ(graph_.onlyConsumer(a), CommandGraph::kNone);
}

TEST_F(CommandGraphTest, AMergedCommandGivesItsWork) {
    Operand *x = tensor(), *a = tensor(), *b = tensor();
    const Id first = graph_.append(makeCommand("first", {x}, {a}), 3);
    const Id second = graph_.append(makeCommand("second", {a}, {b}), 4);
    graph_.erase(first, second);
    graph_.replace(second, makeCommand("both", {x}, {b}));
    EXPECT_FALSE(graph_.contains(first));
    EXPECT_EQ(graph_.ids(), std::vector<Id>{second});
    EXPECT_EQ(graph_.flops(second), 7);
    EXPECT_EQ(graph_.consumers(x), std::vector<Id>{second});
    EXPECT_TRUE(graph_.consumers(a).empty());
    graph_.verify();
}

TEST_F(CommandGraphTest, InsertedCommandsStandWhereTheyWerePut) {
    Operand *x = tensor(), *a = tensor(), *b = tensor(), *c = tensor(), *d = tensor();
    const Id last = graph_.append(makeCommand("last", {c}, {d}), 0);
    const Id first = graph_.insertBefore(last, makeCommand("first", {x}, {a}), 0);
    const Id third = graph_.insertBefore(last, makeCommand("third", {b}, {c}), 0);
    const Id second = graph_.insertAfter(first, makeCommand("second", {a}, {b}), 0);
    EXPECT_EQ(graph_.ids(), (std::vector<Id>{first, second, third, last}));
    EXPECT_TRUE(graph_.runsBefore(second, third));
    graph_.verify();
}

TEST_F(CommandGraphTest, VerifyFindsWhatIsReadTooEarly) {
    Operand *x = tensor(), *a = tensor(), *b = tensor();
    graph_.append(makeCommand("reader", {a}, {b}), 0);
    graph_.append(makeCommand("writer", {x}, {a}), 0);
    try {
        graph_.verify();
        FAIL() << "the graph is not in order";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::Internal);
    }
}

// After each change the uses equal those in a new graph of the same commands.
TEST_F(CommandGraphTest, RandomChanges) {
    std::mt19937 random(7);
    std::vector<Operand*> made = {tensor()};
    const auto anyOf = [&](const auto& list) { return list[random() % list.size()]; };
    for (int step = 0; step < 400; ++step) {
        const std::vector<Id> ids = graph_.ids();
        const auto wanted = [&](Operand* output) { return makeCommand("made", {made[0], anyOf(made)}, {output}); };
        switch (ids.empty() ? 0 : random() % 4) {
            case 0:
                made.push_back(tensor());
                graph_.append(makeCommand("appended", {anyOf(made), made[0]}, {made.back()}), 1);
                break;
            case 1:
                graph_.erase(anyOf(ids), anyOf(ids));
                break;
            case 2:
                graph_.insertBefore(anyOf(ids), wanted(tensor()), 1);
                break;
            default:
                graph_.replace(anyOf(ids), wanted(tensor()));
        }
        CommandGraph fresh([](const Operand*) { return false; });
        std::unordered_map<Id, Id> renamed;
        for (const Id id : graph_.ids()) renamed[fresh.append(graph_.command(id), 0)] = id;
        for (const Operand& tensor : tensors_) {
            std::vector<Id> consumers;
            for (const Id id : fresh.consumers(&tensor)) consumers.push_back(renamed.at(id));
            ASSERT_EQ(graph_.consumers(&tensor), consumers);
            ASSERT_EQ(graph_.producerCount(&tensor), fresh.producerCount(&tensor));
        }
    }
}

}  // namespace
}  // namespace mnnc::test
