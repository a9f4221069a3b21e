// The description of nodes for a backend of the host: the fields of their tables, and weights.
#include <algorithm>
#include <cmath>

#include "own_backend.h"
#include "quant_net.h"

namespace mnnc::test {
namespace {

mnn_status nothing(mnn_operator_call_t&) {
    return MNN_OK;
}

// Runs the net with a backend that takes nodes of this type, and passes each one to `at` while it is prepared.
void look(const wire::NetT& net, const char* type, const std::function<void(const mnn_operator_call_t&)>& at) {
    OwnBackend own;
    int seen = 0;
    own.of(type, nothing);
    own.prepare = [&](mnn_operator_call_t& call) {
        ++seen;
        at(call);
        return MNN_OK;
    };
    const PublicSession session(pack(net), own.mode());
    EXPECT_EQ(session.created, MNN_OK) << session.error;
    EXPECT_EQ(seen, 1);
}

Ints dimsOf(const mnn_host_tensor_t& tensor) {
    return Ints(tensor.dims, tensor.dims + tensor.rank);
}
Floats floatsOf(const mnn_host_tensor_t& tensor) {
    const auto* values = static_cast<const float*>(tensor.data);
    return Floats(values, values + tensor.bytes / sizeof(float));
}

// The attributes include the defaults of the schema: 1 for a stride, true for ceilModel.
TEST(OwnBackendNodes, HaveTheFieldsOfTheirTablesAsAttributes) {
    NetBuilder net;
    look(net.finish({net.conv(net.input({1, 2, 4, 4}), 2, 3, 3, true)}), "Convolution",
         [](const mnn_operator_call_t& call) {
             const mnn_attribute_t& common = attributeOf(*call.node, "common");
             EXPECT_STREQ(common.function, "Convolution2DCommon");
             EXPECT_EQ(attributeOf(common, "kernelX").int_value, 3);
             EXPECT_EQ(attributeOf(common, "kernelX").type, MNN_TYPE_INT32);
             EXPECT_EQ(attributeOf(common, "strideX").int_value, 1);
             EXPECT_EQ(attributeOf(common, "padMode").int_value, 0);
             EXPECT_EQ(attributeOf(common, "relu").bool_value, 1);
             EXPECT_EQ(attributeOf(common, "relu").type, MNN_TYPE_BOOL);
             EXPECT_EQ(attributeOf(common, "relu6").bool_value, 0);
             const mnn_attribute_t& pads = attributeOf(common, "pads");
             EXPECT_EQ(Ints(pads.ints, pads.ints + pads.int_count), (Ints{1, 1, 1, 1}));
             EXPECT_FALSE(hasAttribute(common, "outPads"));
             EXPECT_EQ(attributeOf(*call.node, "bias").float_count, 3u);
             for (size_t i = 0; i < call.node->attribute_count; ++i)
                 EXPECT_STRNE(call.node->attributes[i]->key, "weight");
             EXPECT_STREQ(call.node->attributes[0]->key, "common");  // in the order of the format
         });
}

TEST(OwnBackendNodes, HaveNumbersTextsAndBlobs) {
    PluginNet net;
    wire::PoolT pool;
    pool.isGlobal = true;
    pool.type = wire::PoolType::AVEPOOL;
    look(net.finish({net.indexed(wire::OpType::Pooling, {net.input({1, 2, 4, 4})}, std::move(pool))}), "Pooling",
         [](const mnn_operator_call_t& call) {
             EXPECT_EQ(attributeOf(*call.node, "type").int_value, static_cast<int32_t>(wire::PoolType::AVEPOOL));
             EXPECT_EQ(attributeOf(*call.node, "ceilModel").bool_value, 1);
             EXPECT_EQ(attributeOf(*call.node, "isGlobal").bool_value, 1);
             EXPECT_EQ(call.weight_count, 0u);
         });
    PluginNet slope;
    look(slope.finish({slope.relu(slope.input({3}), 0.25f)}), "ReLU", [](const mnn_operator_call_t& call) {
        EXPECT_EQ(attributeOf(*call.node, "slope").float_value, 0.25f);
        EXPECT_EQ(attributeOf(*call.node, "slope").type, MNN_TYPE_FLOAT32);
        const mnn_attribute_t* found = nullptr;
        EXPECT_EQ(mnn_node_attribute(call.node, "slope", &found), MNN_OK);
        EXPECT_EQ(mnn_node_attribute(call.node, "axis", &found), MNN_ERROR_NOT_FOUND);
    });
    PluginNet scale;
    look(scale.finish({scale.scale(scale.input({1, 3, 2, 2}), 3)}), "Scale", [](const mnn_operator_call_t& call) {
        const mnn_attribute_t& factors = attributeOf(*call.node, "scaleData");
        ASSERT_EQ(factors.float_count, 3u);
        EXPECT_EQ(factors.floats[2], 1 + std::sin(2.0f));
    });
}

TEST(OwnBackendNodes, WithoutATableHaveNoAttributes) {
    PluginNet net;
    look(net.finish({net.bare(wire::OpType::Sigmoid, {net.input({3})})}), "Sigmoid",
         [](const mnn_operator_call_t& call) {
             EXPECT_EQ(call.node->attribute_count, 0u);
             EXPECT_EQ(call.node->attributes, nullptr);
             EXPECT_EQ(call.node->parameter_table, 0);
         });
}

class Convolutions : public PluginNet {
  public:
    // [rows][columns][2][3] weights that count up, and biases.
    int convolution(wire::OpType type, int x, int rows, int columns, int group, int outputs) {
        wire::Convolution2DT conv = makeConv(0, outputs, static_cast<size_t>(rows * columns * 6));
        conv.common->kernelX = 3;
        conv.common->kernelY = 2;
        conv.common->group = group;
        for (size_t i = 0; i < conv.weight.size(); ++i) conv.weight[i] = static_cast<float>(i);
        for (size_t i = 0; i < conv.bias.size(); ++i) conv.bias[i] = -static_cast<float>(i);
        return add(type, {x}, std::move(conv));
    }
};

void expectCounting(const mnn_operator_call_t& call, const Ints& dims, size_t outputs) {
    ASSERT_EQ(call.weight_count, 2u);
    EXPECT_EQ(call.weights[0]->struct_size, sizeof(mnn_host_tensor_t));
    EXPECT_EQ(call.weights[0]->type, MNN_TYPE_FLOAT32);
    EXPECT_EQ(dimsOf(*call.weights[0]), dims);
    const Floats weights = floatsOf(*call.weights[0]), bias = floatsOf(*call.weights[1]);
    size_t count = 1;
    for (const int32_t extent : dims) count *= static_cast<size_t>(extent);
    ASSERT_EQ(weights.size(), count);
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(weights[i], static_cast<float>(i));
    EXPECT_EQ(dimsOf(*call.weights[1]), Ints{static_cast<int32_t>(outputs)});
    ASSERT_EQ(bias.size(), outputs);
    for (size_t i = 0; i < outputs; ++i) EXPECT_EQ(bias[i], -static_cast<float>(i));
}

TEST(OwnBackendNodes, OfConvolutionsHaveWeights) {
    struct Case {
        wire::OpType type;
        const char* name;
        int rows, columns, group, outputs;
    };
    for (const Case& c : {Case{wire::OpType::Convolution, "Convolution", 4, 6, 1, 4},
                          Case{wire::OpType::Convolution, "Convolution", 4, 3, 2, 4},
                          Case{wire::OpType::ConvolutionDepthwise, "ConvolutionDepthwise", 6, 1, 6, 6},
                          Case{wire::OpType::Deconvolution, "Deconvolution", 6, 4, 1, 4},
                          Case{wire::OpType::Deconvolution, "Deconvolution", 6, 2, 2, 4},
                          Case{wire::OpType::DeconvolutionDepthwise, "DeconvolutionDepthwise", 6, 1, 6, 6}}) {
        SCOPED_TRACE(std::string(c.name) + " in groups: " + std::to_string(c.group));
        Convolutions net;
        const int made = net.convolution(c.type, net.input({1, 6, 5, 5}), c.rows, c.columns, c.group, c.outputs);
        look(net.finish({made}), c.name, [&](const mnn_operator_call_t& call) {
            expectCounting(call, {c.rows, c.columns, 2, 3}, static_cast<size_t>(c.outputs));
        });
    }
}

// The weights are an input, although the table has the number of outputs.
TEST(OwnBackendNodes, OfConvolutionsOfTensorsHaveNoWeights) {
    class TensorWeights : public Convolutions {
      public:
        int over(int x, int weights) {
            const int made = convolution(wire::OpType::Convolution, x, 4, 6, 1, 4);
            wire::OpT& op = *net_.oplists.back();
            op.inputIndexes.push_back(weights);
            op.main.AsConvolution2D()->weight.clear();
            op.main.AsConvolution2D()->bias.clear();
            return made;
        }
    } net;
    const int x = net.input({1, 6, 5, 5}), weights = net.input({4, 6, 2, 3});
    const int made = net.over(x, weights);
    look(net.finish({made}), "Convolution", [](const mnn_operator_call_t& call) {
        EXPECT_EQ(call.input_count, 2u);
        EXPECT_EQ(call.weight_count, 0u);
    });
}

TEST(OwnBackendNodes, OfQuantisedConvolutionsHaveFloats) {
    QuantNet net;
    look(net.finish({net.conv(net.input())}), "Convolution", [](const mnn_operator_call_t& call) {
        ASSERT_EQ(call.weight_count, 2u);
        EXPECT_EQ(dimsOf(*call.weights[0]), (Ints{kChannels, kChannels, 1, 1}));
        const Floats weights = floatsOf(*call.weights[0]);
        ASSERT_EQ(weights.size(), size_t{kChannels * kChannels});
        for (size_t i = 0; i < weights.size(); ++i)
            EXPECT_EQ(weights[i], static_cast<float>(static_cast<int8_t>(static_cast<int>(i) * 7 - 100)) * 0.004f);
        EXPECT_FALSE(hasAttribute(attributeOf(*call.node, "quanParameter"), "alpha"));
    });
}

// The tensors are floats although the model keeps them in int8.
TEST(OwnBackendNodes, OfQuantisedNetsHaveFloatTensors) {
    OwnBackend own;
    own.of("UnaryOp", [](mnn_operator_call_t& call) {
        EXPECT_EQ(call.inputs[0]->type, MNN_TYPE_FLOAT32);
        EXPECT_EQ(call.outputs[0]->type, MNN_TYPE_FLOAT32);
        std::fill_n(outputFloats(call), elementsOf(*call.outputs[0]), 0.5f);
        return MNN_OK;
    });
    QuantNet net;
    const int x = net.conv(net.input()), y = net.sigmoid(x), z = net.conv(y);
    for (const int id : {0, x, y, z}) net.quant(id);
    PublicSession session(pack(net.finish({y, z})), own.mode());
    ASSERT_EQ(session.created, MNN_OK) << session.error;
    ASSERT_EQ(session.run(), MNN_OK) << session.error;
    EXPECT_EQ(own.computed, 1);
    EXPECT_EQ(session.read(0), Floats(kChannels * 20, 0.5f));
}

}  // namespace
}  // namespace mnnc::test
