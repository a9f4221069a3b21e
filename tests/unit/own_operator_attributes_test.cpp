// The parameters of its node that an operator of the host can read.
#include <cstring>

#include "own_operator.h"

namespace mnnc::test {
namespace {

std::unique_ptr<wire::AttributeT> attribute(const std::string& key) {
    auto made = std::make_unique<wire::AttributeT>();
    made->key = key;
    return made;
}

// Returns attributes with every kind of value, under keys that are not in order.
std::vector<std::unique_ptr<wire::AttributeT>> attributes() {
    std::vector<std::unique_ptr<wire::AttributeT>> all;
    all.push_back(attribute("text"));
    all.back()->s = "soft";
    all.push_back(attribute("int"));
    all.back()->i = -7;
    all.back()->type = wire::DataType::DT_INT32;
    all.push_back(attribute("float"));
    all.back()->f = 0.25f;
    all.push_back(attribute("bool"));
    all.back()->b = true;
    all.push_back(attribute("lists"));
    all.back()->list = std::make_unique<wire::ListValueT>();
    all.back()->list->i = {3, -1, 4};
    all.back()->list->f = {1.5f};
    all.back()->list->b = {true, false};
    all.back()->list->s = {"p", "", "q"};
    all.push_back(attribute("tensor"));
    all.back()->tensor = std::make_unique<wire::BlobT>();
    all.back()->tensor->dims = {2, 1};
    all.back()->tensor->dataType = wire::DataType::DT_INT64;
    all.back()->tensor->int64s = {5, -6};
    all.push_back(attribute("texts"));
    all.back()->tensor = std::make_unique<wire::BlobT>();
    all.back()->tensor->dims = {1};
    all.back()->tensor->dataType = wire::DataType::DT_STRING;
    all.back()->tensor->strings = {"x"};
    all.push_back(attribute("function"));
    all.back()->func = std::make_unique<wire::NamedAttrListT>();
    all.back()->func->name = "inner";
    all.back()->func->attr.push_back(attribute("depth"));
    all.back()->func->attr.back()->i = 2;
    return all;
}

const mnn_attribute_t& find(const mnn_node_t& node, const char* key) {
    static const mnn_attribute_t none{};
    const mnn_attribute_t* found = nullptr;
    EXPECT_EQ(mnn_node_attribute(&node, key, &found), MNN_OK) << mnn_last_error();
    return found ? *found : none;
}

void expectAttributes(const mnn_node_t& node) {
    ASSERT_EQ(node.attribute_count, 8u);
    for (size_t i = 0; i < node.attribute_count; ++i)
        EXPECT_EQ(node.attributes[i]->struct_size, sizeof(mnn_attribute_t));
    EXPECT_STREQ(find(node, "text").text, "soft");
    EXPECT_EQ(find(node, "int").int_value, -7);
    EXPECT_EQ(find(node, "int").type, MNN_TYPE_INT32);
    EXPECT_EQ(find(node, "int").text, nullptr);
    EXPECT_EQ(find(node, "float").float_value, 0.25f);
    EXPECT_EQ(find(node, "float").type, 0);
    EXPECT_EQ(find(node, "bool").bool_value, 1);
    const mnn_attribute_t& lists = find(node, "lists");
    EXPECT_EQ(Ints(lists.ints, lists.ints + lists.int_count), (Ints{3, -1, 4}));
    EXPECT_EQ(Floats(lists.floats, lists.floats + lists.float_count), (Floats{1.5f}));
    EXPECT_EQ(std::vector<uint8_t>(lists.bools, lists.bools + lists.bool_count), (std::vector<uint8_t>{1, 0}));
    EXPECT_EQ(std::vector<std::string>(lists.texts, lists.texts + lists.text_count),
              (std::vector<std::string>{"p", "", "q"}));
    const mnn_host_tensor_t* tensor = find(node, "tensor").tensor;
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->type, MNN_TYPE_INT32);
    EXPECT_EQ(tensor->rank, 2);
    EXPECT_EQ(tensor->dims[0], 2);
    EXPECT_EQ(tensor->dims[1], 1);
    ASSERT_EQ(tensor->bytes, 8u);
    EXPECT_EQ(static_cast<const int32_t*>(tensor->data)[0], 5);
    EXPECT_EQ(static_cast<const int32_t*>(tensor->data)[1], -6);
    EXPECT_EQ(find(node, "texts").tensor, nullptr);
    const mnn_attribute_t& function = find(node, "function");
    EXPECT_STREQ(function.function, "inner");
    ASSERT_EQ(function.attribute_count, 1u);
    EXPECT_STREQ(function.attributes[0]->key, "depth");
    EXPECT_EQ(function.attributes[0]->int_value, 2);
    const mnn_attribute_t* missing = nullptr;
    EXPECT_EQ(mnn_node_attribute(&node, "none", &missing), MNN_ERROR_NOT_FOUND);
    EXPECT_NE(std::string(mnn_last_error()).find("'lists'"), std::string::npos) << mnn_last_error();
    EXPECT_EQ(missing, nullptr);
}

TEST(OwnOperator, SeesTheAttributesOfPluginAndExtra) {
    for (const bool isExtra : {false, true}) {
        PluginNet builder;
        const int x = builder.input({2});
        int made;
        if (isExtra) {
            wire::ExtraT table;
            table.type = "Own";
            table.engine = "ONNX";
            table.info = {1, -1, 0};
            table.attr = attributes();
            made = builder.indexed(wire::OpType::Extra, {x}, std::move(table));
        } else {
            wire::PluginT table = PluginNet::table("Own");
            table.attr = attributes();
            made = builder.indexed(wire::OpType::Plugin, {x}, std::move(table));
        }
        OwnOperator own("Own");
        own.compute = doubleAll;
        int seen = 0;
        own.shape = [&](mnn_operator_call_t& call) {
            ++seen;
            expectAttributes(*call.node);
            EXPECT_STREQ(call.node->engine, isExtra ? "ONNX" : "");
            EXPECT_EQ(call.node->info_size, isExtra ? 3u : 0u);
            if (isExtra) {
                EXPECT_EQ(std::memcmp(call.node->info, "\1\xff\0", 3), 0);
            }
            EXPECT_NE(call.node->parameters, nullptr);
            EXPECT_EQ(call.node->parameter_table, isExtra ? 78 : 30);
            return shapeLikeInput(call);
        };
        OwnNet net(pack(builder.finish({made})), {&own});
        const PublicSession session(net.interpreter, kCpu);
        EXPECT_EQ(session.created, MNN_OK) << session.error;
        EXPECT_EQ(seen, 1);
    }
}

TEST(OwnOperator, ATensorOfAnAttributeThatIsTooShortIsRefused) {
    PluginNet builder;
    wire::PluginT table = PluginNet::table("Own");
    table.attr = attributes();
    table.attr[5]->tensor->int64s.pop_back();
    const int made = builder.indexed(wire::OpType::Plugin, {builder.input({2})}, std::move(table));
    OwnOperator own("Own");
    own.compute = doubleAll;
    OwnNet net(pack(builder.finish({made})), {&own});
    const PublicSession session(net.interpreter, kCpu);
    EXPECT_EQ(session.created, MNN_ERROR_BAD_WEIGHTS) << session.error;
}

}  // namespace
}  // namespace mnnc::test
