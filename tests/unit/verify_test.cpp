// Damaged models: each is refused with its status and a sentence.
#include <algorithm>

#include "model_builder.h"

namespace mnnc::test {
namespace {

TEST(Verify, EveryTruncationIsRefused) {
    wire::NetT net = makeReluNet();
    net.oplists.push_back(makeConst(1, {64}, std::vector<float>(64, 1.0f)));
    const std::vector<uint8_t> whole = pack(net);
    for (size_t size = 1; size < whole.size(); ++size) {
        const std::vector<uint8_t> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        try {
            loadBytes(part);
            // The tail may only be padding.
            EXPECT_GT(size + 8, whole.size());
        } catch (const Error& error) {
            EXPECT_EQ(error.status(), Status::Truncated) << size << " bytes: " << error.message();
        }
    }
}

TEST(Verify, NotFlatBuffers) {
    const std::string text = "this is a text file and certainly not a neural net at all";
    expectFailure(Status::BadFormat, "not a model", [&] { loadBytes(std::vector<uint8_t>(text.begin(), text.end())); });
    expectFailure(Status::BadFormat, "not a model", [] { loadBytes(std::vector<uint8_t>(64, 0xff)); });
}

TEST(Verify, DamagedBytesNeverCrash) {
    const std::vector<uint8_t> whole = pack(makeReluNet());
    for (size_t at = 0; at < whole.size(); ++at)
        for (const uint8_t value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
            std::vector<uint8_t> damaged = whole;
            damaged[at] = value;
            try {
                loadBytes(damaged);
            } catch (const Error&) {
            }
        }
}

TEST(Verify, MissingLists) {
    wire::NetT net = makeReluNet();
    net.oplists.clear();
    expectRefused(net, Status::BadFormat, "no operator list");
    net = makeReluNet();
    net.tensorName.clear();
    expectRefused(net, Status::BadFormat, "no tensor names");
    net = makeReluNet();
    net.oplists[1]->outputIndexes.clear();
    expectRefused(net, Status::BadParameter, "operator 1 'relu' (ReLU): it has no outputs");
}

TEST(Verify, TensorIndexOutOfRange) {
    wire::NetT net = makeReluNet();
    net.oplists[1]->inputIndexes = {2};
    expectRefused(net, Status::BadIndex, "operator 1 'relu' (ReLU): input 0 is tensor 2, the graph has 2 tensors");
    net.oplists[1]->inputIndexes = {-1};
    expectRefused(net, Status::BadIndex, "tensor -1");
    net = makeReluNet();
    net.oplists[1]->outputIndexes = {7};
    expectRefused(net, Status::BadIndex, "output 0 is tensor 7");
    net = makeReluNet();
    net.outputName = {"nobody"};
    expectRefused(net, Status::BadIndex, "nobody");
    net = makeReluNet();
    net.extraTensorDescribe.push_back(std::make_unique<wire::TensorDescribeT>());
    net.extraTensorDescribe[0]->index = 5;
    expectRefused(net, Status::BadIndex, "tensor 5");
}

TEST(Verify, WrongParameterTable) {
    wire::NetT net = makeReluNet();
    net.oplists[1] = makeOp(wire::OpType::Softmax, "soft", {0}, {1}, wire::BlobT());
    expectRefused(net, Status::BadParameter, "operator 1 'soft' (Softmax): its parameter table is Blob, it needs Axis");
    net.oplists[1] = makeOp(wire::OpType::Softmax, "soft", {0}, {1});
    expectRefused(net, Status::BadParameter, "missing");
    // ReLU works without a table, so a table of another type counts as absent.
    net.oplists[1] = makeOp(wire::OpType::ReLU, "relu", {0}, {1}, wire::BlobT());
    EXPECT_NO_THROW(loadNet(net));
}

TEST(Verify, TooFewInputs) {
    wire::NetT net = makeReluNet();
    net.oplists[1] = makeOp(wire::OpType::BinaryOp, "add", {0}, {1}, wire::BinaryOpT());
    expectRefused(net, Status::BadParameter, "at least 2 and 1");
}

TEST(Verify, EnumOutOfRange) {
    wire::NetT net = makeReluNet();
    wire::UnaryOpT unary;
    unary.opType = static_cast<wire::UnaryOpOperation>(77);
    net.oplists[1] = makeOp(wire::OpType::UnaryOp, "u", {0}, {1}, std::move(unary));
    expectRefused(net, Status::BadParameter, "opType is 77");
}

TEST(Verify, ConstFaults) {
    wire::NetT net = makeReluNet();
    net.oplists[0] = makeConst(0, {1 << 30, 1 << 30, 1 << 30}, {1.0f});
    expectRefused(net, Status::Overflow, "operator 0 'const' (Const)");
    net.oplists[0] = makeConst(0, {2, 3}, {1, 2, 3, 4, 5});
    expectRefused(net, Status::BadWeights, "operator 0 'const' (Const): the constant has 20 bytes, its shape needs 24");
    net.oplists[0] = makeConst(0, std::vector<int32_t>(10, 1), {1});
    expectRefused(net, Status::BadParameter, "rank 10");
    net.oplists[0] = makeConst(0, {0, 5}, {});
    EXPECT_NO_THROW(loadNet(net));
}

TEST(Verify, InputFaults) {
    wire::NetT net = makeReluNet();
    net.oplists[0] = makeInput(0, {1 << 30, 1 << 30, 1 << 30});
    expectRefused(net, Status::Overflow, "extents");
    net.oplists[0] = makeInput(0, std::vector<int32_t>(10, 1));
    expectRefused(net, Status::BadParameter, "rank 10");
    net.oplists[0] = makeInput(0);
    net.oplists[0]->main.AsInput()->dtype = wire::DataType::DT_STRING;
    expectRefused(net, Status::BadType, "data type 7");
}

TEST(Verify, ConvolutionWeightCount) {
    wire::NetT net = makeReluNet();
    net.oplists[1] = makeOp(wire::OpType::Convolution, "conv", {0}, {1}, makeConv(4, 3, 12));
    EXPECT_NO_THROW(loadNet(net));
    net.oplists[1] = makeOp(wire::OpType::Convolution, "conv", {0}, {1}, makeConv(4, 3, 11));
    expectRefused(net, Status::BadWeights, "11 weights are stored, its shape needs 12");
    net.oplists[1] = makeOp(wire::OpType::Convolution, "conv", {0}, {1}, makeConv(4, 3, 12));
    net.oplists[1]->main.AsConvolution2D()->bias.pop_back();
    expectRefused(net, Status::BadWeights, "2 bias values, 3 are needed");
    net.oplists[1]->main.AsConvolution2D()->common->strideX = 0;
    expectRefused(net, Status::BadParameter, "strideX is 0");
    net.oplists[1]->main.AsConvolution2D()->common.reset();
    expectRefused(net, Status::BadParameter, "no common part");
}

TEST(Verify, UseWithoutDefinition) {
    wire::NetT net;
    net.tensorName = {"a", "b", "c"};
    net.oplists.push_back(makeInput(0));
    net.oplists.push_back(makeOp(wire::OpType::BinaryOp, "one", {0, 2}, {1}, wire::BinaryOpT()));
    expectRefused(net, Status::BadFormat,
                  "operator 1 'one' (BinaryOp): it reads tensor 2 ('c'), which no operator makes");
    net.oplists.push_back(makeConst(2, {1}, {1.0f}));  // constants may be anywhere
    EXPECT_NO_THROW(loadNet(net));
}

// Operators that no output needs may read tensors that no operator makes. The loaded model lacks these operators, and
// those that read their results.
TEST(Verify, LostOperators) {
    wire::NetT net = makeReluNet();
    net.tensorName.insert(net.tensorName.end(), {"absent", "lost", "behind"});
    net.oplists.push_back(makeOp(wire::OpType::BinaryOp, "one", {0, 2}, {3}, wire::BinaryOpT()));
    net.oplists.push_back(makeOp(wire::OpType::BinaryOp, "two", {3, 1}, {4}, wire::BinaryOpT()));
    net.outputName.clear();
    expectRefused(net, Status::BadFormat, "it reads tensor 2 ('absent'), which no operator makes");
    net.outputName = {net.tensorName[1]};
    const std::shared_ptr<const Model> model = loadNet(net);
    EXPECT_EQ(model->mainGraph().ops.size(), 2u);
    EXPECT_EQ(model->mainGraph().order.size(), 2u);
    net.outputName = {net.tensorName[1], "behind"};
    expectRefused(net, Status::BadFormat, "it reads tensor 2 ('absent'), which no operator makes");
}

TEST(Verify, QuantInfoFaults) {
    wire::NetT net = makeReluNet();
    net.extraTensorDescribe.push_back(std::make_unique<wire::TensorDescribeT>());
    auto& quant = net.extraTensorDescribe[0]->quantInfo;
    quant = std::make_unique<wire::TensorQuantInfoT>();
    quant->scale = 0.5f;
    EXPECT_NO_THROW(loadNet(net));
    quant->zero = 300.0f;
    expectRefused(net, Status::BadParameter, "zero 300");
}

// Few bytes that represent many: 100,000 names share one string of 100,000 characters, or operators share a list of
// inputs.
TEST(Verify, SharedTablesAreCountedEachTime) {
    const auto build = [](size_t names, size_t length, size_t ops, size_t inputs) {
        flatbuffers::FlatBufferBuilder builder;
        const auto name = builder.CreateString(std::string(length, 'n'));
        const auto tensors = builder.CreateVector(std::vector<flatbuffers::Offset<flatbuffers::String>>(names, name));
        const auto ids = builder.CreateVector(std::vector<int32_t>(inputs, 0));
        const auto made = builder.CreateVector(std::vector<int32_t>{1});
        wire::OpBuilder op(builder);
        op.add_type(wire::OpType::Concat);
        op.add_inputIndexes(ids);
        op.add_outputIndexes(made);
        const auto shared = op.Finish();
        std::vector<flatbuffers::Offset<wire::Op>> list(ops, shared);
        const auto oplists = builder.CreateVector(list);
        wire::NetBuilder net(builder);
        net.add_oplists(oplists);
        net.add_tensorName(tensors);
        builder.Finish(net.Finish());
        return std::vector<uint8_t>(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
    };
    for (const auto& bytes : {build(100000, 100000, 1, 1), build(2, 1, 100000, 100000)}) {
        EXPECT_LT(bytes.size(), 1u << 20);
        expectFailure(Status::BadFormat, "share", [&] { loadBytes(bytes); });
    }
}

}  // namespace
}  // namespace mnnc::test
