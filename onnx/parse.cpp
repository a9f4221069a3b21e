// See model.h. Field numbers are those of onnx.proto.
#include <cstring>
#include <string>

#include "base/error.h"
#include "model.h"

namespace mnnc::onnx {
namespace {

constexpr int kMaxGraphDepth = 64;
// Lists that are searched for a name with every node.
constexpr size_t kMaxAttributes = 1024, kMaxOpsets = 1024;

void requireFew(size_t count, size_t limit, const char* what) {
    if (count > limit) fail(Status::LimitExceeded, "%s are %zu; %zu is the maximum", what, count, limit);
}

std::string_view plainDomain(std::string_view domain) {
    return domain == "ai.onnx" ? std::string_view() : domain;
}

uint64_t number(std::string_view text, std::string_view tensor) {
    constexpr size_t kMaxDigits = 19, kShown = 200;
    uint64_t value = 0;
    if (text.empty() || text.size() > kMaxDigits || text.find_first_not_of("0123456789") != text.npos)
        fail(Status::BadFormat, "the external data of '%s' has '%s' in place of a number",
             std::string(tensor.substr(0, kShown)).c_str(), std::string(text.substr(0, kShown)).c_str());
    for (const char c : text) value = value * 10 + static_cast<uint64_t>(c - '0');
    return value;
}

using Pair = std::pair<std::string_view, std::string_view>;

// The value of a field of a message is stored, appended to a list, or given to a function.
void take(MessageReader& in, std::string_view& to) {
    to = in.text();
}
void take(MessageReader& in, std::vector<std::string_view>& to) {
    to.push_back(in.text());
}
void take(MessageReader& in, int64_t& to) {
    to = in.integer();
}
void take(MessageReader& in, std::vector<int64_t>& to) {
    in.integers(to);
}
void take(MessageReader& in, std::vector<float>& to) {
    in.reals(to);
}
template <typename Function>
auto take(MessageReader& in, const Function& function) -> decltype(function(in)) {
    function(in);
}

template <typename To>
struct Field {
    uint32_t number;
    To to;
};
template <typename To>
Field<To&&> field(uint32_t number, To&& to) {
    return {number, std::forward<To>(to)};
}

// Reads a message: its fields with these numbers, of which each is taken whenever it comes, and no others.
template <typename... To>
void readMessage(Bytes bytes, const char* what, const Field<To>&... fields) {
    MessageReader in(bytes, what);
    while (in.next()) (void)((in.field() == fields.number && (take(in, fields.to), true)) || ...);
}

Pair parsePair(Bytes bytes) {
    Pair pair;
    readMessage(bytes, "a StringStringEntryProto", field(1, pair.first), field(2, pair.second));
    return pair;
}

TensorData parseTensor(Bytes bytes) {
    TensorData tensor;
    std::vector<Pair> entries;
    readMessage(bytes, "a TensorProto", field(1, tensor.dims),
                field(2, [&](MessageReader& in) { tensor.type = static_cast<Elem>(in.integer()); }),
                field(4, tensor.floats), field(5, tensor.ints), field(7, tensor.ints), field(11, tensor.ints),
                field(6, [&](MessageReader&) { tensor.hasStrings = true; }), field(8, tensor.name),
                field(9, [&](MessageReader& in) { tensor.raw = in.bytes(); }),
                field(10, [&](MessageReader& in) { in.doubles(tensor.doubles); }),
                field(13, [&](MessageReader& in) { entries.push_back(parsePair(in.bytes())); }),
                field(14, [&](MessageReader& in) { tensor.external = in.integer() == 1; }));
    for (const auto& [key, value] : entries) {
        if (key == "location") tensor.location = value;
        if (key == "offset") tensor.offset = number(value, tensor.name);
        if (key == "length") tensor.length = number(value, tensor.name);
    }
    return tensor;
}

Graph parseGraph(Bytes bytes, int depth);

Attribute parseAttribute(Bytes bytes, int depth) {
    Attribute attribute;
    const auto sparse = [&](MessageReader&) { attribute.hasSparse = true; };
    readMessage(
        bytes, "an AttributeProto", field(1, attribute.name),
        field(2, [&](MessageReader& in) { attribute.f = in.real(); }), field(3, attribute.i), field(4, attribute.s),
        field(5, [&](MessageReader& in) { attribute.tensor = std::make_shared<TensorData>(parseTensor(in.bytes())); }),
        field(6,
              [&](MessageReader& in) { attribute.graph = std::make_shared<Graph>(parseGraph(in.bytes(), depth + 1)); }),
        field(7, attribute.floats), field(8, attribute.ints), field(9, attribute.strings),
        field(20, [&](MessageReader& in) { attribute.type = static_cast<int32_t>(in.integer()); }),
        field(21, attribute.reference), field(22, sparse), field(23, sparse));
    return attribute;
}

Node parseNode(Bytes bytes, int depth) {
    Node node;
    readMessage(bytes, "a NodeProto", field(1, node.inputs), field(2, node.outputs), field(3, node.name),
                field(4, node.type),
                field(5, [&](MessageReader& in) { node.attributes.push_back(parseAttribute(in.bytes(), depth)); }),
                field(7, node.domain), field(8, node.overload));
    node.domain = plainDomain(node.domain);
    requireFew(node.attributes.size(), kMaxAttributes, "the attributes of a node");
    return node;
}

Extent parseExtent(Bytes bytes) {
    Extent extent;
    readMessage(bytes, "a Dimension", field(1, extent.value), field(2, extent.name));
    if (extent.value < 0) extent.value = -1;
    return extent;
}

void parseType(Bytes bytes, ValueInfo& info, bool inside = false) {
    const auto shape = [&](MessageReader& in) {
        info.hasShape = true;
        readMessage(in.bytes(), "a TensorShapeProto",
                    field(1, [&](MessageReader& each) { info.shape.push_back(parseExtent(each.bytes())); }));
    };
    const auto tensor = [&](MessageReader& in) {
        info.isTensor = true;
        readMessage(in.bytes(), "a TypeProto.Tensor",
                    field(1, [&](MessageReader& type) { info.type = static_cast<Elem>(type.integer()); }),
                    field(2, shape));
    };
    const auto optional = [&](MessageReader& in) {  // the type inside of it
        if (!inside)
            readMessage(in.bytes(), "a TypeProto.Optional",
                        field(1, [&](MessageReader& type) { parseType(type.bytes(), info, true); }));
    };
    readMessage(bytes, "a TypeProto", field(1, tensor), field(9, optional));
}

ValueInfo parseValue(Bytes bytes) {
    ValueInfo info;
    readMessage(bytes, "a ValueInfoProto", field(1, info.name),
                field(2, [&](MessageReader& in) { parseType(in.bytes(), info); }));
    return info;
}

Graph parseGraph(Bytes bytes, int depth) {
    if (depth > kMaxGraphDepth) fail(Status::LimitExceeded, "graphs lie deeper in one another than %d", kMaxGraphDepth);
    Graph graph;
    readMessage(bytes, "a GraphProto",
                field(1, [&](MessageReader& in) { graph.nodes.push_back(parseNode(in.bytes(), depth)); }),
                field(2, graph.name),
                field(5, [&](MessageReader& in) { graph.initializers.push_back(parseTensor(in.bytes())); }),
                field(11, [&](MessageReader& in) { graph.inputs.push_back(parseValue(in.bytes())); }),
                field(12, [&](MessageReader& in) { graph.outputs.push_back(parseValue(in.bytes())); }),
                field(13, [&](MessageReader& in) { graph.values.push_back(parseValue(in.bytes())); }),
                field(15, [&](MessageReader&) { graph.hasSparse = true; }));
    return graph;
}

Opset parseOpset(Bytes bytes) {
    Opset opset;
    readMessage(bytes, "an OperatorSetIdProto", field(1, opset.domain), field(2, opset.version));
    opset.domain = plainDomain(opset.domain);
    return opset;
}

Function parseFunction(Bytes bytes) {
    Function function;
    readMessage(bytes, "a FunctionProto", field(1, function.name), field(4, function.inputs),
                field(5, function.outputs), field(6, function.attributes),
                field(7, [&](MessageReader& in) { function.nodes.push_back(parseNode(in.bytes(), 0)); }),
                field(9, [&](MessageReader& in) { function.opsets.push_back(parseOpset(in.bytes())); }),
                field(10, function.domain),
                field(11, [&](MessageReader& in) { function.defaults.push_back(parseAttribute(in.bytes(), 0)); }),
                field(13, function.overload));
    function.domain = plainDomain(function.domain);
    requireFew(function.defaults.size(), kMaxAttributes, "the attributes of a function");
    requireFew(function.opsets.size(), kMaxOpsets, "the opsets of a function");
    return function;
}

}  // namespace

const char* elemName(Elem elem) {
    static constexpr std::pair<Elem, const char*> kNames[] = {
        {Elem::Float, "float"},   {Elem::Uint8, "uint8"},       {Elem::Int8, "int8"},     {Elem::Uint16, "uint16"},
        {Elem::Int16, "int16"},   {Elem::Int32, "int32"},       {Elem::Int64, "int64"},   {Elem::String, "string"},
        {Elem::Bool, "bool"},     {Elem::Float16, "float16"},   {Elem::Double, "double"}, {Elem::Uint32, "uint32"},
        {Elem::Uint64, "uint64"}, {Elem::Bfloat16, "bfloat16"}, {Elem::Uint4, "uint4"},   {Elem::Int4, "int4"}};
    for (const auto& [known, name] : kNames)
        if (known == elem) return name;
    return "an element type that the format lacks";
}

const Attribute* Node::find(std::string_view attribute) const noexcept {
    for (const Attribute& candidate : attributes)
        if (candidate.name == attribute) return &candidate;
    return nullptr;
}

namespace {

// Whether bytes begin as a .mnn model does: with the place of its table.
bool beginsLikeMnn(Bytes bytes) {
    if (bytes.size() < 8) return false;
    uint32_t root = 0;
    std::memcpy(&root, bytes.data(), sizeof root);
    return root >= 4 && root % 4 == 0 && root <= 1u << 16;
}

void readFields(Bytes bytes, ModelFile& model, bool& hasGraph) {
    readMessage(bytes, "the ModelProto", field(1, model.irVersion), field(2, model.producer),
                field(7,
                      [&](MessageReader& in) {
                          if (hasGraph) fail(Status::BadFormat, "the model has two graphs");
                          model.graph = parseGraph(in.bytes(), 0);
                          hasGraph = true;
                      }),
                field(8, [&](MessageReader& in) { model.opsets.push_back(parseOpset(in.bytes())); }),
                field(14, [&](MessageReader& in) { model.metadata.push_back(parsePair(in.bytes())); }),
                field(25, [&](MessageReader& in) { model.functions.push_back(parseFunction(in.bytes())); }));
}

}  // namespace

ModelFile parseModel(Bytes bytes) {
    ModelFile model;
    bool hasGraph = false;
    try {
        readFields(bytes, model, hasGraph);
    } catch (const Error& error) {
        // Writers put ir_version first, so bytes that are wrong before it are something else.
        if (model.irVersion >= 1) throw;
        if (beginsLikeMnn(bytes))
            fail(Status::BadFormat, "this is no ONNX model: it begins as a .mnn model does, which needs no conversion");
        if (error.status() != Status::BadFormat) throw;
        fail(Status::BadFormat, "this is no ONNX model: %s", error.what());
    }
    requireFew(model.opsets.size(), kMaxOpsets, "the opsets of the model");
    if (bytes.empty()) fail(Status::Truncated, "the file is empty");
    if (model.irVersion < 1)
        fail(Status::BadFormat, "the file has no ir_version: it is no ONNX model, or it ends too early");
    if (!hasGraph) fail(Status::Truncated, "the file has no graph: it is no ONNX model, or it ends too early");
    if (model.opsets.empty())
        fail(Status::Truncated, "the file has no opset_import: it is no ONNX model, or it ends too early");
    return model;
}

}  // namespace mnnc::onnx
