// Slices whose begins are known at run time only: no new plan when they move, a new one when shapes change, and an
// error when they are outside.
#include <gtest/gtest.h>

#include <algorithm>

#include "net_builder.h"
#include "tensor/host_copy.h"

namespace mnnc::test {
namespace {

constexpr int kRows = 6, kColumns = 5;

class MovingNet : public NetBuilder {
  public:
    int slice(int x, int begins, int sizes) {
        const int id = tensor();
        net_.oplists.push_back(makeOp(wire::OpType::SliceTf, "slice" + std::to_string(id), {x, begins, sizes}, {id}));
        return id;
    }
    int constants(const std::vector<int32_t>& values) {
        const int id = tensor();
        net_.oplists.push_back(makeIntConst(id, {static_cast<int32_t>(values.size())}, values));
        return id;
    }
    int stridedSlice(std::vector<int32_t> inputs, wire::StridedSliceParamT params) {
        return add(wire::OpType::StridedSlice, std::move(inputs), std::move(params));
    }
};

// x(6 x 5), begins(2), sizes(2) -> relu(x)[begins .. begins + sizes]
class MovingSlice : public ::testing::Test {
  protected:
    MovingSlice() {
        MovingNet steps;
        const int x = steps.input({kRows, kColumns}), begins = steps.ints({2}), sizes = steps.ints({2});
        const wire::NetT made = steps.finish({steps.relu(steps.slice(x, begins, sizes))});
        session_ = std::make_unique<Session>(open(made), SessionConfig{});
        std::vector<float> values(kRows * kColumns);
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 7;
        copyFromHost(session_->input(0), session_->inputData(0), values.data(), Format::NCHW);
    }
    void run(std::vector<int32_t> begins, std::vector<int32_t> sizes) {
        copyFromHost(session_->input(1), session_->inputData(1), begins.data(), Format::NCHW);
        copyFromHost(session_->input(2), session_->inputData(2), sizes.data(), Format::NCHW);
        session_->run();
    }
    void expect(int row, int column, int rows, int columns) {
        const Operand& output = session_->output(0);
        ASSERT_EQ(output.shape, (Shape{rows, columns}));
        std::vector<float> got(static_cast<size_t>(output.elements()));
        copyToHost(output, session_->outputData(0), got.data(), Format::NCHW);
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j)
                EXPECT_EQ(got[static_cast<size_t>(i * columns + j)],
                          static_cast<float>(std::max(0, (row + i) * kColumns + column + j - 7)));
    }

    std::unique_ptr<Session> session_;
};

TEST_F(MovingSlice, EveryPositionOfABox) {
    for (int row = 0; row <= kRows - 2; ++row)
        for (int column = 0; column <= kColumns - 3; ++column) {
            run({row, column}, {2, 3});
            expect(row, column, 2, 3);
        }
    // One command reads the begins; there is no plan per position.
    EXPECT_EQ(session_->records().at(0).type, std::string("SliceTf"));
}

TEST_F(MovingSlice, NegativeBeginsCountFromTheEnd) {
    run({0, 0}, {3, 2});
    run({-3, -2}, {3, 2});
    expect(kRows - 3, kColumns - 2, 3, 2);
}

TEST_F(MovingSlice, OtherShapesArePlannedAgain) {
    run({0, 0}, {2, 2});
    expect(0, 0, 2, 2);
    run({1, 0}, {3, 4});
    expect(1, 0, 3, 4);
    for (int row = 0; row < kRows; ++row) {  // the rest, which becomes smaller
        run({row, 1}, {-1, -1});
        expect(row, 1, kRows - row, kColumns - 1);
    }
}

TEST_F(MovingSlice, OutsideIsRefusedAndTheNextRunIsRight) {
    run({1, 1}, {2, 2});
    for (const std::vector<int32_t>& begins : {std::vector<int32_t>{5, 0}, {7, 0}, {0, -6}, {INT32_MIN, 0}}) {
        EXPECT_THROW(run(begins, {2, 2}), Error);
        EXPECT_THROW(run(begins, {2, 2}), Error);  // they are not treated as known
        run({2, 3}, {2, 2});
        expect(2, 3, 2, 2);
    }
}

// x(6 x 5), begins(2), ends(2) (, axes, steps) -> relu(x)[begins : ends : steps]
class MovingStridedSlice : public ::testing::Test {
  protected:
    void make(bool onnx, std::vector<int32_t> steps, wire::StridedSliceParamT params = {}) {
        MovingNet net;
        const int x = net.input({kRows, kColumns}), begins = net.ints({2}), ends = net.ints({2});
        params.fromType = onnx ? 1 : 0;
        std::vector<int32_t> inputs{net.relu(x), begins, ends};
        if (onnx) inputs.push_back(net.constants({1, 0}));  // the axes
        if (!steps.empty()) inputs.push_back(net.constants(std::move(steps)));
        const wire::NetT made = net.finish({net.stridedSlice(inputs, std::move(params))});
        session_ = std::make_unique<Session>(open(made), SessionConfig{});
        std::vector<float> values(kRows * kColumns);
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
        copyFromHost(session_->input(0), session_->inputData(0), values.data(), Format::NCHW);
    }
    void run(std::vector<int32_t> begins, std::vector<int32_t> ends) {
        copyFromHost(session_->input(1), session_->inputData(1), begins.data(), Format::NCHW);
        copyFromHost(session_->input(2), session_->inputData(2), ends.data(), Format::NCHW);
        session_->run();
    }
    // Rows and columns of the input; -1: zeros.
    void expect(const std::vector<int>& rows, const std::vector<int>& columns) {
        const Operand& output = session_->output(0);
        ASSERT_EQ(output.elements(), static_cast<int64_t>(rows.size() * columns.size()));
        std::vector<float> got(rows.size() * columns.size()), wanted;
        copyToHost(output, session_->outputData(0), got.data(), Format::NCHW);
        for (const int row : rows)
            for (const int column : columns)
                wanted.push_back(row < 0 || column < 0 ? 0.0f : static_cast<float>(row * kColumns + column + 1));
        EXPECT_EQ(got, wanted);
        EXPECT_EQ(session_->records().back().type, std::string("StridedSlice"));
    }

    std::unique_ptr<Session> session_;
};

TEST_F(MovingStridedSlice, OnnxForm) {
    make(true, {});
    for (int row = 0; row <= kRows - 2; ++row)
        for (int column = 0; column <= kColumns - 3; ++column) {
            run({column, row}, {column + 3, row + 2});
            expect({row, row + 1}, {column, column + 1, column + 2});
        }
    run({-3, -4}, {5, -2});
    expect({2, 3}, {2, 3, 4});
    run({0, 1}, {1000, 2});
    expect({1}, {0, 1, 2, 3, 4});
}

TEST_F(MovingStridedSlice, Steps) {
    make(true, {2, -1});
    run({0, 5}, {4, 3});
    expect({5, 4}, {0, 2});
    run({1, 3}, {5, 1});
    expect({3, 2}, {1, 3});
    run({2, 1}, {5, -100});  // another shape and back
    expect({1, 0}, {2, 4});
    run({0, 4}, {5, 3});
    expect({4}, {0, 2, 4});
}

TEST_F(MovingStridedSlice, MaskedForm) {
    wire::StridedSliceParamT params;
    params.shrinkAxisMask = 1;  // a row
    params.endMask = 2;
    make(false, {1, 1}, params);
    for (int row = 0; row < kRows; ++row) {
        run({row, 1}, {row + 1, 0});
        expect({row}, {1, 2, 3, 4});
        EXPECT_EQ(session_->output(0).shape, (Shape{4}));
    }
    run({2, 3}, {3, 0});
    expect({2}, {3, 4});
}

TEST_F(MovingStridedSlice, OutsideIsRefusedAndTheNextRunIsRight) {
    wire::StridedSliceParamT params;
    params.shrinkAxisMask = 3;  // one element
    make(false, {}, params);
    run({1, 1}, {2, 2});
    expect({1}, {1});
    EXPECT_THROW(run({kRows, 0}, {0, 0}), Error);
    EXPECT_THROW(run({0, kColumns}, {0, 0}), Error);
    run({5, 4}, {6, 5});
    expect({5}, {4});
}

}  // namespace
}  // namespace mnnc::test
