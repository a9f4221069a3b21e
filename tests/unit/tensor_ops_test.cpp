// The data-movement operators from wire table to values: parse, shape rule, geometry, CPU executions, with a
// naive Raster. Expected numbers come from the specification; int32 tensors throughout, floats where the type
// matters.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/ops/families.h"
#include "base/aligned.h"
#include "mnn_generated.h"
#include "ops/families.h"

namespace mnnc {
namespace {

using Ints = std::vector<int32_t>;

struct Value {
    Shape shape;
    Ints bits;
    DataType type = DataType::Int32;
    Format format = Format::NCHW;
};

Value ints(Ints values) {
    return {Shape{static_cast<int64_t>(values.size())}, std::move(values)};
}
Value scalar(int32_t value) {
    return {Shape{}, {value}};
}
Value iota(Shape shape, Format format = Format::NCHW) {
    Value v{shape, {}, DataType::Int32, format};
    for (int64_t i = 0; i < shape.elements(); ++i) v.bits.push_back(static_cast<int32_t>(i));
    return v;
}
Value floats(Shape shape, const std::vector<float>& values) {
    Value v{shape, Ints(values.size()), DataType::Float32};
    std::memcpy(v.bits.data(), values.data(), values.size() * 4);
    return v;
}
std::vector<float> asFloats(const Value& v) {
    std::vector<float> result(v.bits.size());
    std::memcpy(result.data(), v.bits.data(), result.size() * 4);
    return result;
}

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using Table = std::function<std::pair<wire::OpParameter, Offset<void>>(FlatBufferBuilder&)>;

template <typename T>
std::pair<wire::OpParameter, Offset<void>> is(Offset<T> offset) {
    const wire::OpParameter type = wire::OpParameterTraits<T>::enum_value;
    return {type, offset.Union()};
}

// Neither the parsers nor the executions of these families look at the model or the backend.
alignas(64) char nothing[4096];

class OpRunner : public GeometryContext {
  public:
    OpRunner(OpType type, const Table& table, Format defaultFormat = Format::NHWC) {
        const OpFamily families[] = {castOps(),   shapeQueryOps(), reshapeOps(),  permuteOps(),
                                     concatOps(), sliceOps(),      paddingOps(),  fillOps(),
                                     gatherOps(), scatterOps(),    selectOps(),   searchOps(),
                                     scanOps(),   spaceOps(),      detectionOps()};
        for (const OpFamily family : families)
            for (const OpDef& def : family)
                if (def.type == type) node_.def = &def;
        node_.type = type;
        node_.name = "tested";
        node_.defaultFormat = defaultFormat;
        table_ = table;
    }

    std::vector<Value> operator()(const std::vector<Value>& inputs, int outputs = 1) {
        for (size_t i = 0; i < inputs.size(); ++i) node_.inputs.push_back(static_cast<int>(i));
        for (int i = 0; i < outputs; ++i) node_.outputs.push_back(100 + i);
        parse();
        std::vector<Tensor*> in, out;
        for (const Value& v : inputs) {
            in.push_back(temporary(v.shape, v.type, v.format));
            constant(in.back(), v.bits.data());
        }
        for (int i = 0; i < outputs; ++i) out.push_back(temporary({}, DataType::Float32, Format::NCHW));
        const uint32_t content = node_.def->contentInputs ? node_.def->contentInputs(node_) : 0;
        for (size_t i = 0; i < in.size(); ++i) in[i]->contentKnown = (content >> i & 1u) != 0;
        OpContext context{{node_, in, out}, *this};
        node_.def->shape ? node_.def->shape(context) : copyShapes(context);
        bool empty = true;
        for (const Tensor* t : out) empty &= t->empty();
        if (!empty) {
            if (node_.def->geometry)
                node_.def->geometry(context);
            else
                emit(context.command());
        }
        for (Command& command : commands) execute(command);
        std::vector<Value> result;
        for (const Tensor* t : out) {
            Value v{t->shape, Ints(static_cast<size_t>(t->elements())), t->type, t->format};
            if (!v.bits.empty()) std::memcpy(v.bits.data(), t->data, v.bits.size() * 4);
            result.push_back(v);
        }
        return result;
    }

    Tensor* temporary(const Shape& shape, DataType type, Format format) override {
        Tensor& t = tensors_.emplace_back();
        t.shape = shape;
        t.type = type;
        t.format = format;
        return &t;
    }
    void emit(Command command) override { commands.push_back(std::move(command)); }
    void constant(Tensor* output, const void* bytes) override {
        allocate(*output);
        if (output->elements() > 0)
            std::memcpy(output->data, bytes, static_cast<size_t>(output->storageBytes()));
        output->contentKnown = true;
    }

    std::vector<Command> commands;

  private:
    void parse() {
        if (!node_.def->parse) return;
        FlatBufferBuilder builder;
        std::pair<wire::OpParameter, Offset<void>> main{wire::OpParameter::NONE, 0};
        if (table_) main = table_(builder);
        wire::OpBuilder op(builder);
        if (table_) {
            op.add_main_type(main.first);
            op.add_main(main.second);
        }
        op.add_type(static_cast<wire::OpType>(node_.type));
        builder.Finish(op.Finish());
        const auto* wireOp = flatbuffers::GetRoot<wire::Op>(builder.GetBufferPointer());
        node_.params = node_.def->parse(*wireOp, {reinterpret_cast<const Model&>(nothing), node_});
    }
    void allocate(Tensor& t) {
        memory_.emplace_back(t.storageBytes());
        t.data = memory_.back().data();
    }
    void execute(const Command& command) {
        for (Tensor* t : command.outputs) allocate(*t);
        if (command.type == OpType::Raster) return raster(command);
        const cpu::CpuFamily families[] = {cpu::castCpu(),    cpu::fillCpu(),     cpu::gatherCpu(),
                                           cpu::scatterCpu(), cpu::selectCpu(),   cpu::searchCpu(),
                                           cpu::scanCpu(),    cpu::detectionCpu()};
        std::string reason = "no execution";
        std::unique_ptr<Execution> execution;
        for (const cpu::CpuFamily family : families)
            for (const cpu::CpuOp& op : family)
                if (op.type == command.type)
                    execution = op.create(reinterpret_cast<cpu::CpuBackend&>(nothing), command, reason);
        if (!execution) throw std::runtime_error(reason);
        execution->onResize();
        AlignedBuffer scratch(execution->scratchBytes());
        execution->bindScratch(scratch.data());
        execution->onExecute();
    }
    static void raster(const Command& command) {
        Tensor& out = *command.outputs[0];
        const int64_t count = out.elements();
        std::memset(out.data, 0, static_cast<size_t>(out.storageBytes()));
        for (const Region& r : command.regions)
            for (int64_t i = 0; i < r.size[0]; ++i)
                for (int64_t j = 0; j < r.size[1]; ++j)
                    for (int64_t k = 0; k < r.size[2]; ++k) {
                        const Tensor& in = *command.inputs.at(static_cast<size_t>(r.input));
                        const int64_t to =
                            r.dst.offset + i * r.dst.stride[0] + j * r.dst.stride[1] + k * r.dst.stride[2];
                        const int64_t from =
                            r.src.offset + i * r.src.stride[0] + j * r.src.stride[1] + k * r.src.stride[2];
                        if (to < 0 || to >= count || from < 0 || from >= in.elements())
                            throw std::runtime_error("a region leaves its tensors");
                        out.as<int32_t>()[to] = in.as<int32_t>()[from];
                    }
    }

    Node node_;
    Table table_;
    std::deque<Tensor> tensors_;
    std::deque<AlignedBuffer> memory_;
};

Value run(OpType type, const Table& table, const std::vector<Value>& inputs) {
    return OpRunner(type, table)(inputs)[0];
}
Ints bits(OpType type, const Table& table, const std::vector<Value>& inputs) {
    return run(type, table, inputs).bits;
}
std::string shapeOf(OpType type, const Table& table, const std::vector<Value>& inputs) {
    return run(type, table, inputs).shape.text();
}

Table reshape(std::vector<int> dims, wire::MNN_DATA_FORMAT format = wire::MNN_DATA_FORMAT::NCHW) {
    return [=](FlatBufferBuilder& b) { return is(wire::CreateReshapeDirect(b, &dims, format)); };
}
Table axis(int value) {
    return [=](FlatBufferBuilder& b) { return is(wire::CreateAxis(b, value)); };
}
Table cast(wire::DataType type) {
    return
        [=](FlatBufferBuilder& b) { return is(wire::CreateCastParam(b, wire::DataType::DT_INVALID, type)); };
}
Table permute(std::vector<int> dims) {
    return [=](FlatBufferBuilder& b) { return is(wire::CreatePermuteDirect(b, &dims)); };
}
Table strided(int from, int begin = 0, int end = 0, int ellipsis = 0, int newAxis = 0, int shrink = 0) {
    return [=](FlatBufferBuilder& b) {
        return is(wire::CreateStridedSliceParam(b, wire::DataType::DT_INT32, wire::DataType::DT_INT32, begin,
                                                end, ellipsis, newAxis, shrink, from));
    };
}
Table pad(wire::PadValueMode mode) {
    return [=](FlatBufferBuilder& b) { return is(wire::CreatePadParam(b, mode)); };
}

TEST(TensorOps, Casts) {
    EXPECT_EQ(bits(OpType::Cast, cast(wire::DataType::DT_INT64), {floats({3}, {1.9f, -1.9f, 3e9f})}),
              (Ints{1, -1, INT32_MIN}));
    EXPECT_EQ(bits(OpType::Cast, cast(wire::DataType::DT_BOOL), {floats({3}, {0.0f, -0.0f, 2.0f})}),
              (Ints{0, 1, 1}));
    EXPECT_EQ(asFloats(run(OpType::CastLike, {}, {ints({1, -2}), floats({1}, {0})})),
              (std::vector<float>{1, -2}));
}

TEST(TensorOps, ShapeQueries) {
    EXPECT_EQ(bits(OpType::Shape, {}, {iota({2, 3})}), (Ints{2, 3}));
    EXPECT_EQ(bits(OpType::Shape, {}, {iota({1, 5, 2, 3}, Format::NC4HW4)}), (Ints{1, 2, 3, 5}));
    const Table part = [](FlatBufferBuilder& b) { return is(wire::CreateShapeParam(b, true, -2, true, 9)); };
    EXPECT_EQ(bits(OpType::Shape, part, {iota({1, 5, 2, 3})}), (Ints{2, 3}));
    EXPECT_EQ(bits(OpType::Size, {}, {iota({2, 3})}), Ints{6});
    EXPECT_EQ(bits(OpType::Rank, {}, {iota({2, 3})}), Ints{2});
}

TEST(TensorOps, Reshapes) {
    EXPECT_EQ(shapeOf(OpType::Reshape, reshape({0, -1}), {iota({2, 3, 4})}), "2x12");
    EXPECT_EQ(shapeOf(OpType::Reshape, reshape({}), {iota({2, 3, 4}), ints({4, -1})}), "4x6");
    EXPECT_THROW(run(OpType::Reshape, reshape({5, -1}), {iota({2, 3, 4})}), Error);
    const Value packed = iota({1, 4, 2, 2}, Format::NC4HW4);
    EXPECT_EQ(bits(OpType::Reshape, reshape({1, 2, 2, 4}), {packed}), packed.bits);
    EXPECT_EQ(bits(OpType::Reshape, reshape({1, 2, 2, 4}, wire::MNN_DATA_FORMAT::NHWC), {packed}),
              (Ints{0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15}));
    EXPECT_EQ(bits(OpType::Reshape, reshape({1, 16}, wire::MNN_DATA_FORMAT::NHWC), {packed}),
              (Ints{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15}));
    const auto flatten = [](int from, int to) {
        return [=](FlatBufferBuilder& b) { return is(wire::CreateFlatten(b, from, to)); };
    };
    EXPECT_EQ(shapeOf(OpType::Flatten, flatten(0, 0), {iota({2, 3, 4})}), "1x24");
    EXPECT_EQ(shapeOf(OpType::Flatten, flatten(1, 2), {iota({2, 3, 4, 5})}), "2x12x5");
    EXPECT_EQ(shapeOf(OpType::Squeeze, {}, {iota({1, 3, 1})}), "3");
    EXPECT_EQ(shapeOf(OpType::Unsqueeze, {}, {iota({3}), ints({0, -1})}), "1x3x1");
    EXPECT_THROW(run(OpType::Unsqueeze, {}, {iota({3}), ints({0, 0})}), Error);
    EXPECT_EQ(shapeOf(OpType::ExpandDims, {}, {iota({3}), ints({-1})}), "3x1");
}

TEST(TensorOps, PermutesOfAnyRank) {
    EXPECT_EQ(bits(OpType::Permute, permute({1, 0}), {iota({2, 3})}), (Ints{0, 3, 1, 4, 2, 5}));
    const Value in = iota({2, 3, 2, 2, 3});
    const int dims[] = {4, 2, 0, 3, 1};
    const Value out = run(OpType::Permute, permute({4, 2, 0, 3, 1}), {in});
    EXPECT_EQ(out.shape.text(), "3x2x2x2x3");
    const int64_t stride[] = {36, 12, 6, 3, 1};
    for (int64_t i = 0; i < 72; ++i) {
        int64_t rest = i, from = 0;
        for (int a = 4; a >= 0; --a) {
            from += rest % out.shape[a] * stride[dims[a]];
            rest /= out.shape[a];
        }
        EXPECT_EQ(out.bits[static_cast<size_t>(i)], from);
    }
    EXPECT_THROW(run(OpType::Transpose, {}, {iota({2, 3}), ints({0, 0})}), Error);
    EXPECT_EQ(bits(OpType::Reverse, {}, {iota({2, 3}), ints({-1})}), (Ints{2, 1, 0, 5, 4, 3}));
    const Table sequence = [](FlatBufferBuilder& b) { return is(wire::CreateReverseSequenceParam(b, 0, 1)); };
    EXPECT_EQ(bits(OpType::ReverseSequence, sequence, {iota({2, 3}), ints({2, 3})}),
              (Ints{1, 0, 2, 5, 4, 3}));
}

TEST(TensorOps, JoinsAndSplits) {
    EXPECT_EQ(bits(OpType::Concat, axis(1), {iota({2, 1}), iota({2, 2})}), (Ints{0, 0, 1, 1, 2, 3}));
    EXPECT_THROW(run(OpType::Concat, axis(1), {iota({2, 1}), iota({2})}), Error);
    const Table pack = [](FlatBufferBuilder& b) {
        return is(wire::CreatePackParam(b, wire::DataType::DT_INT32, -1));
    };
    EXPECT_EQ(bits(OpType::Pack, pack, {iota({2}), ints({7, 8})}), (Ints{0, 7, 1, 8}));
    const auto slice = [](std::vector<int> points, wire::NetSource source) {
        return [=](FlatBufferBuilder& b) { return is(wire::CreateSliceDirect(b, 0, &points, source)); };
    };
    const auto lengths = [](const Table& table, std::vector<Value> in, int outputs) {
        std::vector<int64_t> result;
        for (const Value& v : OpRunner(OpType::Slice, table)(in, outputs)) result.push_back(v.shape[0]);
        return result;
    };
    using Lengths = std::vector<int64_t>;
    EXPECT_EQ(lengths(slice({2, 5}, wire::NetSource::CAFFE), {iota({10})}, 3), (Lengths{2, 3, 5}));
    EXPECT_EQ(lengths(slice({}, wire::NetSource::TORCH), {iota({10})}, 3), (Lengths{3, 3, 3}));
    EXPECT_EQ(lengths(slice({4}, wire::NetSource::TORCH), {iota({10})}, 3), (Lengths{4, 4, 2}));
    EXPECT_EQ(lengths(slice({2}, wire::NetSource::TENSORFLOW), {iota({10})}, 2), (Lengths{5, 5}));
    EXPECT_EQ(lengths(slice({3, -1}, wire::NetSource::ONNX), {iota({10})}, 2), (Lengths{3, 7}));
    EXPECT_EQ(lengths(slice({}, wire::NetSource::TORCH), {iota({10}), ints({1, 2})}, 2), (Lengths{1, 2}));
    EXPECT_EQ(OpRunner(OpType::Unpack, axis(1))({iota({2, 2})}, 2)[1].bits, (Ints{1, 3}));
}

TEST(TensorOps, StridedSlices) {
    const Value x = iota({10});
    const auto tf = [&](int begin, int end, int step) {
        return bits(OpType::StridedSlice, strided(0), {x, ints({begin}), ints({end}), ints({step})});
    };
    const auto onnx = [&](int begin, int end, int step) {
        return bits(OpType::StridedSlice, strided(1),
                    {x, ints({begin}), ints({end}), ints({0}), ints({step})});
    };
    EXPECT_EQ(tf(2, 5, 1), (Ints{2, 3, 4}));
    EXPECT_EQ(tf(3, 3, 1), Ints{});
    EXPECT_EQ(tf(3, 3, 2), Ints{3});
    EXPECT_EQ(tf(5, 2, 2), Ints{0});
    EXPECT_EQ(tf(3, 3, -1), (Ints{3, 2}));
    EXPECT_EQ(tf(2, 5, -1), Ints{});
    EXPECT_EQ(tf(-13, 5, 1), Ints{});
    EXPECT_EQ(tf(0, -20, 1), Ints{});
    EXPECT_EQ(tf(20, 30, 1), Ints{});
    EXPECT_EQ(tf(9, -5, -1), (Ints{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
    EXPECT_EQ(onnx(-1, -5, -1), (Ints{9, 8, 7, 6}));
    EXPECT_EQ(onnx(-1, -1073741824, -1), (Ints{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
    EXPECT_EQ(onnx(-100, 5, 1), (Ints{0, 1, 2, 3, 4}));
    EXPECT_EQ(onnx(1, 1073741824, 4), (Ints{1, 5, 9}));
    EXPECT_THROW(tf(0, 5, 0), Error);
    const Value y = iota({3, 4, 5});
    const auto item2 = ints({0, 0});
    EXPECT_EQ(shapeOf(OpType::StridedSlice, strided(0, 0, 0, 1, 2), {y, item2, item2, ints({1, 1})}),
              "3x4x1x5");
    EXPECT_EQ(shapeOf(OpType::StridedSlice, strided(0, 0, 0, 2, 1), {y, item2, item2, ints({1, 1})}),
              "1x3x4x5");
    EXPECT_EQ(
        bits(OpType::StridedSlice, strided(0, 0, 0, 0, 0, 3), {y, ints({-1, 1}), ints({0, 2}), ints({1, 1})}),
        (Ints{45, 46, 47, 48, 49}));
    EXPECT_EQ(
        bits(OpType::StridedSlice, strided(0, 1, 1), {iota({2, 2, 2}), ints({0}), ints({0}), ints({-1})}),
        (Ints{4, 5, 6, 7, 0, 1, 2, 3}));
    // The write form.
    EXPECT_EQ(
        bits(OpType::StridedSlice, strided(0), {x, ints({8}), ints({2}), ints({-2}), ints({100, 101, 102})}),
        (Ints{0, 1, 2, 3, 102, 5, 101, 7, 100, 9}));
    EXPECT_EQ(bits(OpType::SliceTf, {}, {iota({2, 3}), ints({0, -2}), ints({-1, 1})}), (Ints{1, 4}));
}

TEST(TensorOps, Paddings) {
    const Value x = ints({1, 2, 3});
    using Mode = wire::PadValueMode;
    EXPECT_EQ(bits(OpType::Padding, pad(Mode::REFLECT), {x, ints({2, 2})}), (Ints{3, 2, 1, 2, 3, 2, 1}));
    EXPECT_EQ(bits(OpType::Padding, pad(Mode::SYMMETRIC), {x, ints({2, 3})}), (Ints{2, 1, 1, 2, 3, 3, 2, 1}));
    EXPECT_EQ(bits(OpType::Padding, pad(Mode::EDGE), {x, ints({1, 2})}), (Ints{1, 1, 2, 3, 3, 3}));
    EXPECT_EQ(bits(OpType::Padding, pad(Mode::REFLECT), {x, ints({3, 0})}), (Ints{0, 3, 2, 1, 2, 3}));
    EXPECT_EQ(bits(OpType::Padding, {}, {x, ints({-1, 2}), scalar(9)}), (Ints{2, 3, 9, 9}));
    EXPECT_EQ(bits(OpType::Padding, {}, {x, ints({-1, -1})}), Ints{2});
    EXPECT_EQ(bits(OpType::Padding, {}, {iota({1, 2}), ints({1, 0, 1, 1}), scalar(7)}),
              (Ints{7, 7, 7, 7, 7, 0, 1, 7}));
    EXPECT_EQ(bits(OpType::Padding, pad(Mode::SYMMETRIC), {iota({1, 2}), ints({1, 0, 1, 0})}),
              (Ints{0, 0, 1, 0, 0, 1}));
    EXPECT_THROW(run(OpType::Padding, {}, {x, ints({-2, -2})}), Error);
}

TEST(TensorOps, Fills) {
    EXPECT_EQ(bits(OpType::Tile, {}, {iota({2, 2}), ints({2, 2})}),
              (Ints{0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3}));
    EXPECT_EQ(bits(OpType::BroadcastTo, {}, {iota({2, 1}), ints({3})}), (Ints{0, 0, 0, 1, 1, 1}));
    EXPECT_EQ(shapeOf(OpType::BroadcastTo, {}, {iota({2}), ints({1, 1, 1})}), "1x1x2");
    EXPECT_EQ(bits(OpType::BroadcastTo, axis(1), {iota({2}), ints({2, 3})}), (Ints{0, 0, 0, 1, 1, 1}));
    EXPECT_EQ(bits(OpType::Fill, {}, {ints({2, 2}), scalar(5)}), (Ints{5, 5, 5, 5}));
    EXPECT_EQ(bits(OpType::ZerosLike, {}, {iota({3})}), (Ints{0, 0, 0}));
    EXPECT_EQ(bits(OpType::EyeLike, {}, {iota({2, 3}), ints({1})}), (Ints{0, 1, 0, 0, 0, 1}));
    const Table last = [](FlatBufferBuilder& b) { return is(wire::CreateOneHotParam(b)); };
    EXPECT_EQ(bits(OpType::OneHot, last, {ints({1, -1, 2}), scalar(3), scalar(8), scalar(4)}),
              (Ints{4, 8, 4, 4, 4, 4, 4, 4, 8}));
    EXPECT_EQ(bits(OpType::Range, {}, {scalar(5), scalar(0), scalar(-2)}), (Ints{5, 3, 1}));
    EXPECT_EQ(asFloats(run(OpType::Range, {}, {floats({}, {0}), floats({}, {1}), floats({}, {0.4f})})),
              (std::vector<float>{0, 0.4f, 0.8f}));
    EXPECT_EQ(asFloats(run(OpType::LinSpace, {}, {floats({}, {0}), floats({}, {1}), scalar(3)})),
              (std::vector<float>{0, 0.5f, 1}));
    const Table random = [](FlatBufferBuilder& b) { return is(wire::CreateRandomUniform(b, 7)); };
    const std::vector<float> drawn = asFloats(run(OpType::RandomUniform, random, {ints({3})}));
    EXPECT_NEAR(drawn[0], 0.417022, 1e-6);
    EXPECT_NEAR(drawn[2], 0.720325, 1e-6);
}

TEST(TensorOps, Gathers) {
    EXPECT_EQ(bits(OpType::GatherV2, {}, {iota({2, 3}), ints({2, 0, -3, -1}), scalar(1)}),
              (Ints{2, 0, 0, 2, 5, 3, 3, 5}));
    EXPECT_THROW(run(OpType::GatherV2, {}, {iota({2, 3}), ints({2, 0, 3, -1}), scalar(1)}), Error);
    EXPECT_EQ(shapeOf(OpType::Gather, axis(1), {iota({2, 3}), scalar(1)}), "2");
    EXPECT_THROW(run(OpType::Gather, axis(-2), {iota({2, 3}), scalar(1)}), Error);
    EXPECT_EQ(bits(OpType::GatherND, {}, {iota({2, 3}), {Shape{2, 2}, {1, 1, -2, -1}}}), (Ints{4, 2}));
    EXPECT_THROW(run(OpType::GatherND, {}, {iota({2, 3}), {Shape{2, 2}, {1, 1, 0, 5}}}), Error);
    EXPECT_EQ(bits(OpType::GatherND, axis(1), {iota({2, 3}), {Shape{2, 1}, {-1, 3}}}), (Ints{2, 3}));
    EXPECT_THROW(run(OpType::GatherND, axis(1), {iota({2, 3}), {Shape{2, 1}, {0, -1}}}), Error);
    EXPECT_THROW(run(OpType::GatherND, axis(1), {iota({2, 3}), {Shape{3, 1}, {0, 3, 3}}}), Error);
    EXPECT_EQ(bits(OpType::GatherND, {}, {iota({2, 3}), {Shape{1, 1}, {1}}}), (Ints{3, 4, 5}));
    EXPECT_EQ(bits(OpType::GatherElements, {}, {iota({2, 3}), {Shape{2, 2}, {2, 0, 1, -3}}, scalar(-1)}),
              (Ints{2, 0, 4, 3}));
    EXPECT_THROW(run(OpType::GatherElements, {}, {iota({2, 3}), {Shape{2, 2}, {2, 0, 1, 7}}, scalar(-1)}),
                 Error);
}

TEST(TensorOps, Scatters) {
    EXPECT_EQ(
        bits(OpType::ScatterNd, {}, {{Shape{2, 1}, {1, -3}}, {Shape{2, 2}, {1, 2, 3, 4}}, ints({3, 2})}),
        (Ints{3, 4, 1, 2, 0, 0}));
    EXPECT_THROW(
        run(OpType::ScatterNd, {}, {{Shape{2, 1}, {1, 5}}, {Shape{2, 2}, {1, 2, 3, 4}}, ints({3, 2})}),
        Error);
    const auto binary = [](wire::BinaryOpOperation op) {
        return [=](FlatBufferBuilder& b) { return is(wire::CreateBinaryOp(b, op)); };
    };
    EXPECT_EQ(bits(OpType::ScatterNd, binary(wire::BinaryOpOperation::ADD),
                   {{Shape{2, 1}, {1, 1}}, ints({5, 6}), ints({3}), ints({1, 1, 1})}),
              (Ints{1, 12, 1}));
    EXPECT_EQ(bits(OpType::ScatterElements, binary(static_cast<wire::BinaryOpOperation>(-1)),
                   {iota({2, 3}), {Shape{1, 2}, {1, -1}}, {Shape{1, 2}, {9, 8}}, scalar(0)}),
              (Ints{0, 1, 2, 9, 8, 5}));
}

TEST(TensorOps, SelectsAndCounts) {
    EXPECT_EQ(bits(OpType::Select, {}, {{Shape{2, 1}, {1, 0}}, ints({1, 2}), scalar(9)}), (Ints{1, 2, 9, 9}));
    EXPECT_EQ(bits(OpType::Select, {}, {{Shape{2, 2}, {1, 0, 0, 1}}, iota({2, 2}), ints({8, 9})}),
              (Ints{0, 9, 8, 3}));
    const Table extra = [](FlatBufferBuilder& b) { return is(wire::CreateExtra(b)); };
    EXPECT_EQ(bits(OpType::Where, extra, {{Shape{2, 2}, {0, 3, -1, 1}}}), (Ints{0, 1, 1, 1}));
    EXPECT_EQ(shapeOf(OpType::Where, extra, {ints({0, 0})}), "0x1");
    const auto unique = OpRunner(OpType::Unique, {})({ints({3, 1, 3, -2})}, 4);
    EXPECT_EQ(unique[0].bits, (Ints{-2, 1, 3}));
    EXPECT_EQ(unique[1].bits, (Ints{3, 1, 0}));
    EXPECT_EQ(unique[2].bits, (Ints{2, 1, 2, 0}));
    EXPECT_EQ(unique[3].bits, (Ints{1, 1, 2}));
    EXPECT_EQ(bits(OpType::SetDiff1D, {}, {ints({1, 2, 2, 3}), ints({3, 1})}), (Ints{2, 2}));
    EXPECT_EQ(bits(OpType::UnravelIndex, {}, {ints({5, 11}), ints({3, 4})}), (Ints{1, 2, 1, 3}));
    EXPECT_THROW(run(OpType::UnravelIndex, {}, {ints({5, 12}), ints({3, 4})}), Error);
}

TEST(TensorOps, Searches) {
    const auto arg = [](int at) {
        return [=](FlatBufferBuilder& b) { return is(wire::CreateArgMax(b, 0, 0, at)); };
    };
    EXPECT_EQ(bits(OpType::ArgMax, arg(-1), {{Shape{2, 3}, {1, 5, 5, -1, -5, -3}}}), (Ints{1, 0}));
    EXPECT_EQ(bits(OpType::ArgMin, arg(0), {{Shape{2, 2}, {1, 5, 0, 7}}}), (Ints{1, 0}));
    const auto top = [](std::vector<float> values, int k) {
        const int64_t n = static_cast<int64_t>(values.size());
        return OpRunner(OpType::TopKV2, {})({floats(Shape{n}, values), ints({k})}, 2)[1].bits;
    };
    EXPECT_EQ(top({1, 5, 5}, 2), (Ints{2, 1}));
    EXPECT_EQ(top({7, 2, 7}, 2), (Ints{2, 0}));
    EXPECT_EQ(top({1, 5, 5}, 1), Ints{1});
    EXPECT_EQ(OpRunner(OpType::TopKV2, {})({iota({3, 2}), scalar(2), scalar(0)}, 2)[0].bits,
              (Ints{4, 5, 2, 3}));
    EXPECT_THROW(OpRunner(OpType::TopKV2, {})({iota({3}), scalar(4)}, 2), Error);
}

TEST(TensorOps, Scans) {
    const auto sum = [](bool exclusive, bool reverse) {
        return [=](FlatBufferBuilder& b) { return is(wire::CreateCumSum(b, exclusive, reverse)); };
    };
    EXPECT_EQ(bits(OpType::CumSum, sum(false, false), {ints({1, 2, 3}), scalar(0)}), (Ints{1, 3, 6}));
    EXPECT_EQ(bits(OpType::CumSum, sum(true, false), {ints({1, 2, 3}), scalar(0)}), (Ints{0, 1, 3}));
    EXPECT_EQ(bits(OpType::CumSum, sum(true, true), {ints({1, 2, 3}), scalar(-1)}), (Ints{5, 3, 0}));
    EXPECT_EQ(bits(OpType::CumProd, axis(0), {{Shape{2, 2}, {2, 3, 4, 5}}}), (Ints{2, 3, 8, 15}));
    EXPECT_EQ(
        asFloats(run(OpType::MatrixBandPart, {}, {floats({2, 2}, {1, 2, 3, 4}), scalar(0), scalar(-1)})),
        (std::vector<float>{1, 2, 0, 4}));
}

TEST(TensorOps, SpaceAndBatch) {
    const auto depth = [](wire::DepthToSpaceMode mode) {
        return [=](FlatBufferBuilder& b) { return is(wire::CreateDepthSpaceParam(b, 2, mode)); };
    };
    const Value x = iota({1, 8, 1, 1});
    EXPECT_EQ(bits(OpType::DepthToSpace, depth(wire::DepthToSpaceMode::DCR), {x}),
              (Ints{0, 2, 4, 6, 1, 3, 5, 7}));
    EXPECT_EQ(bits(OpType::DepthToSpace, depth(wire::DepthToSpaceMode::CRD), {x}),
              (Ints{0, 1, 2, 3, 4, 5, 6, 7}));
    for (const Format format : {Format::NCHW, Format::NHWC})
        for (const auto mode : {wire::DepthToSpaceMode::DCR, wire::DepthToSpaceMode::CRD}) {
            const Value y = iota({2, 4, 6, 8}, format);
            EXPECT_EQ(bits(OpType::DepthToSpace, depth(mode), {run(OpType::SpaceToDepth, depth(mode), {y})}),
                      y.bits);
        }
    EXPECT_EQ(
        bits(OpType::SpaceToBatchND, {}, {iota({1, 1, 2, 2}), ints({2, 2}), {Shape{2, 2}, {0, 0, 0, 0}}}),
        (Ints{0, 1, 2, 3}));
    const Value block = ints({2, 3}), pads{Shape{2, 2}, {1, 0, 2, 1}};
    for (const Format format : {Format::NCHW, Format::NHWC}) {
        const Value image = iota(format == Format::NCHW ? Shape{2, 3, 5, 6} : Shape{2, 5, 6, 3}, format);
        const Value blocked = run(OpType::SpaceToBatchND, {}, {image, block, pads});
        EXPECT_EQ(blocked.shape[0], 12);
        EXPECT_EQ(bits(OpType::BatchToSpaceND, {}, {blocked, block, pads}), image.bits);
    }
}

TEST(TensorOps, NonMaxSuppression) {
    const std::vector<float> boxes = {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, 10, 1, 11, 1, 1.05f, 0, 0.05f};
    const auto limit = floats({1}, {0.5f});
    EXPECT_EQ(bits(OpType::NonMaxSuppressionV2, {},
                   {floats({4, 4}, boxes), floats({4}, {0.6f, 0.9f, 0.7f, 0.1f}), ints({4}), limit}),
              (Ints{1, 2}));
    const Value rows =
        run(OpType::NonMaxSuppressionV2, {},
            {floats({1, 4, 4}, boxes), floats({1, 2, 4}, {0.6f, 0.9f, 0.7f, 0.1f, 0, 0, 0.5f, 0}), ints({4}),
             limit, floats({1}, {0.4f})});
    EXPECT_EQ(rows.shape.text(), "3x3");
    EXPECT_EQ(rows.bits, (Ints{0, 0, 1, 0, 0, 2, 0, 1, 2}));
}

}  // namespace
}  // namespace mnnc
