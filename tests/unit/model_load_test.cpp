// Loading: what a good net exposes, and each way a file or a net is refused, with its status and sentence.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "model_builder.h"

namespace mnnc::testing {
namespace {

class TempFile {
  public:
    explicit TempFile(const std::vector<uint8_t>& bytes) {
        const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
        path_ = ::testing::TempDir() + "mnnc_" + info->test_suite_name() + "_" + info->name() + ".bin";
        std::ofstream(path_, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    ~TempFile() { std::filesystem::remove(path_); }
    const char* path() const { return path_.c_str(); }

  private:
    std::string path_;
};

TEST(ModelBytes, FileErrors) {
    expectFailure(Status::NullArgument, "NULL", [] { ModelBytes::fromFile(nullptr); });
    expectFailure(Status::FileNotExist, "/no/such/file", [] { ModelBytes::fromFile("/no/such/file"); });
    expectFailure(Status::FileOpenFailed, "directory", [] { ModelBytes::fromFile("/"); });
    expectFailure(Status::FileOpenFailed, "regular", [] { ModelBytes::fromFile("/dev/null"); });
    const TempFile empty({});
    expectFailure(Status::Truncated, "empty", [&] { ModelBytes::fromFile(empty.path()); });
}

TEST(ModelBytes, UnreadableFile) {
    const TempFile file({1, 2, 3});
    std::filesystem::permissions(file.path(), std::filesystem::perms::none);
    // root may read everything, so the test becomes nobody for a moment.
    const bool isRoot = ::geteuid() == 0;
    if (isRoot && ::seteuid(65534) != 0) GTEST_SKIP() << "this user may read everything";
    expectFailure(Status::FileOpenFailed, "denied", [&] { ModelBytes::fromFile(file.path()); });
    if (isRoot) {
        EXPECT_EQ(::seteuid(0), 0);
    }
}

TEST(ModelBytes, MemoryErrors) {
    const uint8_t byte = 0;
    expectFailure(Status::NullArgument, "NULL", [] { ModelBytes::copied(nullptr, 4); });
    expectFailure(Status::NullArgument, "NULL", [] { ModelBytes::borrowed(nullptr, 4); });
    expectFailure(Status::Truncated, "empty", [&] { ModelBytes::borrowed(&byte, 0); });
}

TEST(ModelBytes, MapReadAndBorrowAgree) {
    const std::vector<uint8_t> content = pack(makeReluNet());
    const TempFile file(content);
    const ModelBytes mapped = ModelBytes::fromFile(file.path(), ModelBytes::Access::Map);
    const ModelBytes read = ModelBytes::fromFile(file.path(), ModelBytes::Access::Read);
    EXPECT_TRUE(mapped.isMapped());
    EXPECT_FALSE(read.isMapped());
    // Given back or not, the bytes are those of the file.
    mapped.dropPages();
    read.dropPages();
    ASSERT_EQ(mapped.size(), content.size());
    ASSERT_EQ(read.size(), content.size());
    EXPECT_EQ(std::memcmp(mapped.data(), content.data(), content.size()), 0);
    EXPECT_EQ(std::memcmp(read.data(), content.data(), content.size()), 0);

    alignas(8) uint8_t aligned[16] = {};
    EXPECT_EQ(ModelBytes::borrowed(aligned, 8).data(), aligned);
    const ModelBytes moved = ModelBytes::borrowed(aligned + 1, 8);
    EXPECT_NE(moved.data(), aligned + 1);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(moved.data()) % 8, 0u);
}

TEST(ModelLoad, ExposesTheNet) {
    wire::NetT net = makeReluNet();
    net.bizCode = "biz";
    net.mnn_uuid = "uuid";
    net.extraInfo = std::make_unique<wire::ExtraInfoT>();
    net.extraInfo->version = "3.6.1";
    net.sourceType = wire::NetSource::ONNX;
    net.extraTensorDescribe.push_back(std::make_unique<wire::TensorDescribeT>());
    net.extraTensorDescribe[0]->index = 1;
    const auto model = loadNet(net);
    EXPECT_EQ(model->uuid(), "uuid");
    EXPECT_EQ(model->bizCode(), "biz");
    EXPECT_EQ(model->version(), "3.6.1");
    EXPECT_EQ(model->sourceType(), ModelSource::Onnx);
    EXPECT_EQ(model->mainGraph().inputs, std::vector<int32_t>{0});
    EXPECT_EQ(model->mainGraph().outputs, std::vector<int32_t>{1});
    EXPECT_EQ(model->mainGraph().tensorNames[1], "t1");
    EXPECT_EQ(model->mainGraph().describe(0), nullptr);
    EXPECT_NE(model->mainGraph().describe(1), nullptr);
    EXPECT_EQ(model->findGraph("none"), -1);
}

TEST(ModelLoad, OldFileOutputsAreTheUnconsumed) {
    wire::NetT net = makeReluNet();
    net.outputName.clear();
    net.tensorName.push_back("t2");
    net.oplists.push_back(makeConst(2, {}, {1.0f}));
    EXPECT_EQ(loadNet(net)->mainGraph().outputs, std::vector<int32_t>{1});
    EXPECT_EQ(loadNet(net)->version(), "");
}

TEST(ModelLoad, DuplicateNameTakesTheLastForAnOutput) {
    wire::NetT net = makeReluNet();
    net.tensorName = {"same", "same"};
    net.outputName = {"same"};
    EXPECT_EQ(loadNet(net)->mainGraph().outputs, std::vector<int32_t>{1});
}

TEST(ModelLoad, UnknownOperatorsLoad) {
    wire::NetT net = makeReluNet();
    net.oplists[1]->type = static_cast<wire::OpType>(599);
    EXPECT_NO_THROW(loadNet(net));
    net.oplists[1]->type = wire::OpType::AbsVal;
    EXPECT_NO_THROW(loadNet(net));
}

TEST(ModelLoad, EveryTruncationIsRefused) {
    wire::NetT net = makeReluNet();
    net.oplists.push_back(makeConst(1, {64}, std::vector<float>(64, 1.0f)));
    const std::vector<uint8_t> whole = pack(net);
    size_t calledTruncated = 0;
    for (size_t size = 1; size < whole.size(); ++size) {
        const std::vector<uint8_t> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        try {
            loadBytes(part);
            // The tail may hold nothing but padding.
            EXPECT_GT(size + 8, whole.size());
        } catch (const Error& error) {
            calledTruncated += error.status() == Status::Truncated;
        }
    }
    EXPECT_GT(calledTruncated, whole.size() * 9 / 10);
}

TEST(ModelLoad, NotFlatBuffers) {
    const std::string text = "this is a text file and certainly not a neural net at all";
    expectFailure(Status::BadFormat, "not a model",
                  [&] { loadBytes(std::vector<uint8_t>(text.begin(), text.end())); });
    expectFailure(Status::BadFormat, "not a model", [] { loadBytes(std::vector<uint8_t>(64, 0xff)); });
}

TEST(ModelLoad, DamagedBytesNeverCrash) {
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

TEST(ModelLoad, MissingLists) {
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

TEST(ModelLoad, TensorIndexOutOfRange) {
    wire::NetT net = makeReluNet();
    net.oplists[1]->inputIndexes = {2};
    expectRefused(net, Status::BadIndex,
                  "operator 1 'relu' (ReLU): input 0 is tensor 2, the graph has 2 tensors");
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

TEST(ModelLoad, WrongParameterTable) {
    wire::NetT net = makeReluNet();
    net.oplists[1] = makeOp(wire::OpType::Softmax, "soft", {0}, {1}, wire::BlobT());
    expectRefused(net, Status::BadParameter,
                  "operator 1 'soft' (Softmax): its parameter table is Blob, it needs Axis");
    net.oplists[1] = makeOp(wire::OpType::Softmax, "soft", {0}, {1});
    expectRefused(net, Status::BadParameter, "missing");
    // ReLU works without a table, so a foreign one reads as absent.
    net.oplists[1] = makeOp(wire::OpType::ReLU, "relu", {0}, {1}, wire::BlobT());
    EXPECT_NO_THROW(loadNet(net));
}

TEST(ModelLoad, TooFewInputs) {
    wire::NetT net = makeReluNet();
    net.oplists[1] = makeOp(wire::OpType::BinaryOp, "add", {0}, {1}, wire::BinaryOpT());
    expectRefused(net, Status::BadParameter, "at least 2 and 1");
}

TEST(ModelLoad, EnumOutOfRange) {
    wire::NetT net = makeReluNet();
    wire::UnaryOpT unary;
    unary.opType = static_cast<wire::UnaryOpOperation>(77);
    net.oplists[1] = makeOp(wire::OpType::UnaryOp, "u", {0}, {1}, std::move(unary));
    expectRefused(net, Status::BadParameter, "opType is 77");
}

TEST(ModelLoad, ConstFaults) {
    wire::NetT net = makeReluNet();
    net.oplists[0] = makeConst(0, {1 << 30, 1 << 30, 1 << 30}, {1.0f});
    expectRefused(net, Status::Overflow, "operator 0 'const' (Const)");
    net.oplists[0] = makeConst(0, {2, 3}, {1, 2, 3, 4, 5});
    expectRefused(net, Status::BadWeights,
                  "operator 0 'const' (Const): constant holds 20 bytes, its shape needs 24");
    net.oplists[0] = makeConst(0, std::vector<int32_t>(10, 1), {1});
    expectRefused(net, Status::BadParameter, "rank 10");
    net.oplists[0] = makeConst(0, {0, 5}, {});
    EXPECT_NO_THROW(loadNet(net));
}

TEST(ModelLoad, InputFaults) {
    wire::NetT net = makeReluNet();
    net.oplists[0] = makeInput(0, {1 << 30, 1 << 30, 1 << 30});
    expectRefused(net, Status::Overflow, "extents");
    net.oplists[0] = makeInput(0, std::vector<int32_t>(10, 1));
    expectRefused(net, Status::BadParameter, "rank 10");
    net.oplists[0] = makeInput(0);
    net.oplists[0]->main.AsInput()->dtype = wire::DataType::DT_STRING;
    expectRefused(net, Status::BadType, "data type 7");
}

TEST(ModelLoad, ConvolutionWeightCount) {
    wire::NetT net = makeReluNet();
    net.oplists[1] = makeOp(wire::OpType::Convolution, "conv", {0}, {1}, makeConv(4, 3, 12));
    EXPECT_NO_THROW(loadNet(net));
    net.oplists[1] = makeOp(wire::OpType::Convolution, "conv", {0}, {1}, makeConv(4, 3, 11));
    expectRefused(net, Status::BadWeights, "11 weights stored, its shape needs 12");
    net.oplists[1] = makeOp(wire::OpType::Convolution, "conv", {0}, {1}, makeConv(4, 3, 12));
    net.oplists[1]->main.AsConvolution2D()->bias.pop_back();
    expectRefused(net, Status::BadWeights, "2 bias values for 3 outputs");
    net.oplists[1]->main.AsConvolution2D()->common->strideX = 0;
    expectRefused(net, Status::BadParameter, "strideX is 0");
    net.oplists[1]->main.AsConvolution2D()->common.reset();
    expectRefused(net, Status::BadParameter, "no common part");
}

TEST(ModelLoad, UseBeforeDefinition) {
    wire::NetT net;
    net.tensorName = {"a", "b", "c"};
    net.oplists.push_back(makeInput(0));
    net.oplists.push_back(makeOp(wire::OpType::BinaryOp, "one", {0, 2}, {1}, wire::BinaryOpT()));
    net.oplists.push_back(makeOp(wire::OpType::ReLU, "two", {1}, {2}));
    expectRefused(net, Status::Cycle, "operator 1 'one' (BinaryOp): it reads tensor 2 ('c')");
    net.oplists.pop_back();  // now never produced
    expectRefused(net, Status::Cycle, "tensor 2");
    net.oplists.push_back(makeConst(2, {1}, {1.0f}));  // constants may stand anywhere
    EXPECT_NO_THROW(loadNet(net));
}

TEST(ModelLoad, QuantInfoFaults) {
    wire::NetT net = makeReluNet();
    net.extraTensorDescribe.push_back(std::make_unique<wire::TensorDescribeT>());
    auto& quant = net.extraTensorDescribe[0]->quantInfo;
    quant = std::make_unique<wire::TensorQuantInfoT>();
    quant->scale = 0.5f;
    EXPECT_NO_THROW(loadNet(net));
    quant->zero = 300.0f;
    expectRefused(net, Status::BadParameter, "zero 300");
}

std::unique_ptr<wire::SubGraphProtoT> makeBranch(const std::string& name, const std::string& calls = {}) {
    auto graph = std::make_unique<wire::SubGraphProtoT>();
    graph->name = name;
    graph->tensors = {name + "_in", name + "_out"};
    graph->inputs = {0};
    graph->outputs = {1};
    graph->nodes.push_back(makeInput(0));
    if (calls.empty()) {
        graph->nodes.push_back(makeOp(wire::OpType::ReLU, "relu", {0}, {1}));
        return graph;
    }
    wire::WhileParamT loop;
    loop.cond_graph = calls;
    loop.body_graph = calls;
    auto alias = std::make_unique<wire::StringVecT>();
    alias->data = {calls + "_in"};
    loop.aliases_inputs.push_back(std::move(alias));
    loop.aliases_outputs = {calls + "_out"};
    graph->nodes.push_back(makeOp(wire::OpType::While, "loop", {0}, {1}, std::move(loop)));
    return graph;
}

wire::NetT makeIfNet() {
    wire::NetT net = makeReluNet();
    wire::IfParamT branch;
    branch.then_graph = "yes";
    branch.else_graph = "no";
    auto inputs = std::make_unique<wire::StringVecT>();
    inputs->data = {"yes_in", "no_in"};
    branch.aliases_inputs.push_back(std::move(inputs));
    auto outputs = std::make_unique<wire::StringVecT>();
    outputs->data = {"yes_out", "no_out"};
    branch.aliases_outputs.push_back(std::move(outputs));
    net.oplists[1] = makeOp(wire::OpType::If, "if", {0}, {1}, std::move(branch));
    net.subgraphs.push_back(makeBranch("yes"));
    net.subgraphs.push_back(makeBranch("no"));
    return net;
}

TEST(ModelLoad, Subgraphs) {
    const auto model = loadNet(makeIfNet());
    ASSERT_EQ(model->graphs().size(), 3u);
    EXPECT_EQ(model->findGraph("yes"), 1);
    EXPECT_EQ(model->findGraph("no"), 2);
    EXPECT_EQ(model->graphs()[2].tensorNames[1], "no_out");
    EXPECT_EQ(model->graphs()[2].outputs, std::vector<int32_t>{1});
}

TEST(ModelLoad, SubgraphFaults) {
    wire::NetT net = makeIfNet();
    net.oplists[1]->main.AsIfParam()->else_graph = "gone";
    expectRefused(net, Status::BadIndex, "gone");
    net = makeIfNet();
    net.subgraphs[1]->name = "yes";
    expectRefused(net, Status::BadFormat, "two subgraphs");
    net = makeIfNet();
    net.oplists[1]->main.AsIfParam()->aliases_inputs[0]->data.pop_back();
    expectRefused(net, Status::BadParameter, "input 'no_in' of subgraph 'no' receives nothing");
    net = makeIfNet();
    net.oplists[1]->main.AsIfParam()->aliases_outputs[0]->data.pop_back();
    expectRefused(net, Status::BadParameter, "output alias");
    net = makeIfNet();
    net.subgraphs[0]->nodes[1]->inputIndexes = {9};
    expectRefused(net, Status::BadIndex, "subgraph 'yes': operator 1 'relu'");
    net = makeIfNet();
    net.subgraphs[0]->outputs = {4};
    expectRefused(net, Status::BadIndex, "output 0 is tensor 4");
}

TEST(ModelLoad, SubgraphThatCallsItself) {
    wire::NetT net = makeIfNet();
    net.subgraphs[0] = makeBranch("yes", "yes");
    expectRefused(net, Status::Cycle, "subgraph 'yes' calls itself");
    net.subgraphs[0] = makeBranch("yes", "no");
    net.subgraphs[1] = makeBranch("no", "yes");
    expectRefused(net, Status::Cycle, "calls itself");
}

// 'yes' calls g1 twice, g1 calls g2 twice, and so on.
wire::NetT makeDoublingNet(int levels, bool leafFirst) {
    wire::NetT net = makeIfNet();
    for (int i = 1; i <= levels; ++i)
        net.subgraphs.push_back(
            makeBranch("g" + std::to_string(i), i < levels ? "g" + std::to_string(i + 1) : std::string()));
    net.subgraphs[0] = makeBranch("yes", "g1");
    if (leafFirst) std::reverse(net.subgraphs.begin(), net.subgraphs.end());
    return net;
}

TEST(ModelLoad, CallTreesAreBounded) {
    for (const bool leafFirst : {false, true}) {
        EXPECT_NO_THROW(loadNet(makeDoublingNet(10, leafFirst)));
        expectRefused(makeDoublingNet(12, leafFirst), Status::LimitExceeded, "at most 4096");
        expectRefused(makeDoublingNet(63, leafFirst), Status::LimitExceeded, "at most 4096");
        expectRefused(makeDoublingNet(70, leafFirst), Status::LimitExceeded, "deeper than 64");
    }
}

TEST(ModelLoad, CalledOperatorsAreBounded) {
    // 300 calls of a body of 1,000 operators: few calls, many operators.
    wire::NetT net = makeReluNet();
    auto body = makeBranch("body");
    while (body->nodes.size() < 1000)
        body->nodes.push_back(
            makeOp(wire::OpType::ReLU, "", {0}, {static_cast<int32_t>(body->nodes.size()) % 2}));
    net.subgraphs.push_back(std::move(body));
    const auto call = [&] {
        wire::IfParamT param;
        param.then_graph = param.else_graph = "body";
        auto fed = std::make_unique<wire::StringVecT>();
        fed->data = net.subgraphs[0]->tensors;
        param.aliases_inputs.push_back(std::move(fed));
        net.oplists.push_back(makeOp(wire::OpType::If, "", {0}, {1}, std::move(param)));
    };
    for (int i = 0; i < 100; ++i) call();
    EXPECT_NE(loadNet(net), nullptr);
    for (int i = 0; i < 200; ++i) call();
    expectRefused(net, Status::LimitExceeded, "at most 262144");
}

// Few bytes that mean many: 100,000 names that are one string of 100,000 characters, and operators that share a list of
// inputs.
TEST(ModelLoad, SharedTablesAreNoAmplifier) {
    const auto build = [](size_t names, size_t length, size_t ops, size_t inputs) {
        flatbuffers::FlatBufferBuilder builder;
        const auto name = builder.CreateString(std::string(length, 'n'));
        const auto tensors =
            builder.CreateVector(std::vector<flatbuffers::Offset<flatbuffers::String>>(names, name));
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
        return std::vector<uint8_t>(builder.GetBufferPointer(),
                                    builder.GetBufferPointer() + builder.GetSize());
    };
    for (const auto& bytes : {build(100000, 100000, 1, 1), build(2, 1, 100000, 100000)}) {
        EXPECT_LT(bytes.size(), 1u << 20);
        expectFailure(Status::BadFormat, "share", [&] { loadBytes(bytes); });
    }
}

TEST(ModelLoad, WarningForATensorProducedTwice) {
    wire::NetT net = makeReluNet();
    net.oplists.push_back(makeOp(wire::OpType::Sigmoid, "again", {0}, {1}));
    std::string heard;
    ModelOptions options;
    options.log.userData = &heard;
    options.log.callback = [](void* user, int32_t, const char* text) {
        *static_cast<std::string*>(user) += text;
    };
    EXPECT_NO_THROW(loadNet(net, options));
    EXPECT_NE(heard.find("'again' produces tensor 1"), std::string::npos);
}

}  // namespace
}  // namespace mnnc::testing
