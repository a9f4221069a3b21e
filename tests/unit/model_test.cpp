// The properties of a valid model.
#include "model/model.h"

#include "model/parameter_count.h"
#include "model_builder.h"

namespace mnnc::test {
namespace {

TEST(Model, ExposesTheNet) {
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

// A file may refer to one text very often, which would become as many copies.
TEST(Model, MetadataOfManyCopiesIsIgnored) {
    const auto metadataOf = [](int pairs) {
        flatbuffers::FlatBufferBuilder b;
        const auto text = b.CreateString(std::string(1000, 'x'));
        wire::AttributeBuilder one(b);
        one.add_key(text);
        one.add_s(text);
        const auto attribute = one.Finish();
        const auto list = b.CreateVector(std::vector(static_cast<size_t>(pairs), attribute));
        wire::ExtraBuilder extra(b);
        extra.add_attr(list);
        b.Finish(extra.Finish());
        wire::NetT net = makeReluNet();
        net.extraInfo = std::make_unique<wire::ExtraInfoT>();
        net.extraInfo->buffer.assign(b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize());
        return loadNet(net)->metadata().size();
    };
    EXPECT_EQ(metadataOf(2), 2u);
    EXPECT_EQ(metadataOf(1000), 0u);
}

TEST(Model, ParametersInAFileOfWeightsCount) {
    wire::NetT net = makeReluNet();
    wire::LayerNormT norm;
    norm.external = {0, 20, 12};
    net.oplists.push_back(makeOp(wire::OpType::LayerNorm, "norm", {1}, {2}, std::move(norm)));
    net.tensorName.push_back("t2");
    EXPECT_EQ(countParameters(*loadNet(net)), 8u);
}

TEST(Model, OldFileOutputsAreTheUnconsumed) {
    wire::NetT net = makeReluNet();
    net.outputName.clear();
    net.tensorName.push_back("t2");
    net.oplists.push_back(makeConst(2, {}, {1.0f}));
    EXPECT_EQ(loadNet(net)->mainGraph().outputs, std::vector<int32_t>{1});
    EXPECT_EQ(loadNet(net)->version(), "");
}

TEST(Model, DuplicateNameTakesTheLastForAnOutput) {
    wire::NetT net = makeReluNet();
    net.tensorName = {"same", "same"};
    net.outputName = {"same"};
    EXPECT_EQ(loadNet(net)->mainGraph().outputs, std::vector<int32_t>{1});
}

TEST(Model, UnknownOperatorsLoad) {
    wire::NetT net = makeReluNet();
    net.oplists[1]->type = static_cast<wire::OpType>(599);
    EXPECT_NO_THROW(loadNet(net));
    net.oplists[1]->type = wire::OpType::AbsVal;
    EXPECT_NO_THROW(loadNet(net));
}

}  // namespace
}  // namespace mnnc::test
