// See model.h. Field numbers are those of onnx.proto.
#include <string>

#include "base/error.h"
#include "model.h"

namespace mnnc::onnx {
namespace {

constexpr int kDeepest = 64;

std::string_view plainDomain(std::string_view domain) {
    return domain == "ai.onnx" ? std::string_view() : domain;
}

uint64_t number(std::string_view text, std::string_view tensor) {
    uint64_t value = 0;
    if (text.empty() || text.size() > 19)
        fail(Status::BadFormat, "the external data of '%.*s' has '%.*s' in place of a number",
             static_cast<int>(tensor.size()), tensor.data(), static_cast<int>(text.size()), text.data());
    for (const char c : text) {
        if (c < '0' || c > '9')
            fail(Status::BadFormat, "the external data of '%.*s' has '%.*s' in place of a number",
                 static_cast<int>(tensor.size()), tensor.data(), static_cast<int>(text.size()), text.data());
        value = value * 10 + static_cast<uint64_t>(c - '0');
    }
    return value;
}

TensorData parseTensor(Bytes bytes) {
    TensorData tensor;
    std::vector<std::pair<std::string_view, std::string_view>> entries;
    MessageReader in(bytes, "a TensorProto");
    while (in.next()) switch (in.field()) {
            case 1:
                in.integers(tensor.dims);
                break;
            case 2:
                tensor.type = static_cast<Elem>(in.integer());
                break;
            case 4:
                in.reals(tensor.floats);
                break;
            case 5:
            case 7:
            case 11:
                in.integers(tensor.ints);
                break;
            case 6:
                tensor.hasStrings = true;
                break;
            case 8:
                tensor.name = in.text();
                break;
            case 9:
                tensor.raw = in.bytes();
                break;
            case 10:
                in.doubles(tensor.doubles);
                break;
            case 13: {
                MessageReader entry(in.bytes(), "a StringStringEntryProto");
                auto& [key, value] = entries.emplace_back();
                while (entry.next())
                    if (entry.field() == 1)
                        key = entry.text();
                    else if (entry.field() == 2)
                        value = entry.text();
                break;
            }
            case 14:
                tensor.external = in.integer() == 1;
                break;
            default:
                break;
        }
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
    MessageReader in(bytes, "an AttributeProto");
    while (in.next()) switch (in.field()) {
            case 1:
                attribute.name = in.text();
                break;
            case 2:
                attribute.f = in.real();
                break;
            case 3:
                attribute.i = in.integer();
                break;
            case 4:
                attribute.s = in.text();
                break;
            case 5:
                attribute.tensor = std::make_shared<TensorData>(parseTensor(in.bytes()));
                break;
            case 6:
                attribute.graph = std::make_shared<Graph>(parseGraph(in.bytes(), depth + 1));
                break;
            case 7:
                in.reals(attribute.floats);
                break;
            case 8:
                in.integers(attribute.ints);
                break;
            case 9:
                attribute.strings.push_back(in.text());
                break;
            case 20:
                attribute.type = static_cast<int32_t>(in.integer());
                break;
            case 21:
                attribute.reference = in.text();
                break;
            case 22:
            case 23:
                attribute.hasSparse = true;
                break;
            default:
                break;
        }
    return attribute;
}

Node parseNode(Bytes bytes, int depth) {
    Node node;
    MessageReader in(bytes, "a NodeProto");
    while (in.next()) switch (in.field()) {
            case 1:
                node.inputs.push_back(in.text());
                break;
            case 2:
                node.outputs.push_back(in.text());
                break;
            case 3:
                node.name = in.text();
                break;
            case 4:
                node.type = in.text();
                break;
            case 5:
                node.attributes.push_back(parseAttribute(in.bytes(), depth));
                break;
            case 7:
                node.domain = plainDomain(in.text());
                break;
            case 8:
                node.overload = in.text();
                break;
            default:
                break;
        }
    return node;
}

void parseShape(Bytes bytes, ValueInfo& info) {
    info.hasShape = true;
    MessageReader in(bytes, "a TensorShapeProto");
    while (in.next()) {
        if (in.field() != 1) continue;
        Extent& extent = info.shape.emplace_back();
        MessageReader dimension(in.bytes(), "a Dimension");
        while (dimension.next())
            if (dimension.field() == 1)
                extent.value = dimension.integer();
            else if (dimension.field() == 2)
                extent.name = dimension.text();
        if (extent.value < 0) extent.value = -1;
    }
}

void parseType(Bytes bytes, ValueInfo& info, bool inside = false) {
    MessageReader in(bytes, "a TypeProto");
    while (in.next()) {
        if (in.field() == 9 && !inside) {  // the type inside of an optional
            MessageReader optional(in.bytes(), "a TypeProto.Optional");
            while (optional.next())
                if (optional.field() == 1) parseType(optional.bytes(), info, true);
        }
        if (in.field() != 1) continue;
        info.isTensor = true;
        MessageReader tensor(in.bytes(), "a TypeProto.Tensor");
        while (tensor.next())
            if (tensor.field() == 1)
                info.type = static_cast<Elem>(tensor.integer());
            else if (tensor.field() == 2)
                parseShape(tensor.bytes(), info);
    }
}

ValueInfo parseValue(Bytes bytes) {
    ValueInfo info;
    MessageReader in(bytes, "a ValueInfoProto");
    while (in.next())
        if (in.field() == 1)
            info.name = in.text();
        else if (in.field() == 2)
            parseType(in.bytes(), info);
    return info;
}

Graph parseGraph(Bytes bytes, int depth) {
    if (depth > kDeepest) fail(Status::LimitExceeded, "graphs lie deeper in one another than %d", kDeepest);
    Graph graph;
    MessageReader in(bytes, "a GraphProto");
    while (in.next()) switch (in.field()) {
            case 1:
                graph.nodes.push_back(parseNode(in.bytes(), depth));
                break;
            case 2:
                graph.name = in.text();
                break;
            case 5:
                graph.initializers.push_back(parseTensor(in.bytes()));
                break;
            case 11:
                graph.inputs.push_back(parseValue(in.bytes()));
                break;
            case 12:
                graph.outputs.push_back(parseValue(in.bytes()));
                break;
            case 13:
                graph.values.push_back(parseValue(in.bytes()));
                break;
            case 15:
                graph.hasSparse = true;
                break;
            default:
                break;
        }
    return graph;
}

Opset parseOpset(Bytes bytes) {
    Opset opset;
    MessageReader in(bytes, "an OperatorSetIdProto");
    while (in.next())
        if (in.field() == 1)
            opset.domain = plainDomain(in.text());
        else if (in.field() == 2)
            opset.version = in.integer();
    return opset;
}

Function parseFunction(Bytes bytes) {
    Function function;
    MessageReader in(bytes, "a FunctionProto");
    while (in.next()) switch (in.field()) {
            case 1:
                function.name = in.text();
                break;
            case 4:
                function.inputs.push_back(in.text());
                break;
            case 5:
                function.outputs.push_back(in.text());
                break;
            case 6:
                function.attributes.push_back(in.text());
                break;
            case 7:
                function.nodes.push_back(parseNode(in.bytes(), 0));
                break;
            case 9:
                function.opsets.push_back(parseOpset(in.bytes()));
                break;
            case 10:
                function.domain = plainDomain(in.text());
                break;
            case 11:
                function.defaults.push_back(parseAttribute(in.bytes(), 0));
                break;
            case 13:
                function.overload = in.text();
                break;
            default:
                break;
        }
    return function;
}

}  // namespace

const char* elemName(Elem elem) {
    switch (elem) {
        case Elem::Float:
            return "float";
        case Elem::Uint8:
            return "uint8";
        case Elem::Int8:
            return "int8";
        case Elem::Uint16:
            return "uint16";
        case Elem::Int16:
            return "int16";
        case Elem::Int32:
            return "int32";
        case Elem::Int64:
            return "int64";
        case Elem::String:
            return "string";
        case Elem::Bool:
            return "bool";
        case Elem::Float16:
            return "float16";
        case Elem::Double:
            return "double";
        case Elem::Uint32:
            return "uint32";
        case Elem::Uint64:
            return "uint64";
        case Elem::Bfloat16:
            return "bfloat16";
        case Elem::Uint4:
            return "uint4";
        case Elem::Int4:
            return "int4";
        default:
            return "an element type that the format lacks";
    }
}

const Attribute* Node::find(std::string_view attribute) const noexcept {
    for (const Attribute& candidate : attributes)
        if (candidate.name == attribute) return &candidate;
    return nullptr;
}

ModelFile parseModel(Bytes bytes) {
    ModelFile model;
    bool hasGraph = false;
    MessageReader in(bytes, "the ModelProto");
    while (in.next()) switch (in.field()) {
            case 1:
                model.irVersion = in.integer();
                break;
            case 2:
                model.producer = in.text();
                break;
            case 7:
                if (hasGraph) fail(Status::BadFormat, "the model has two graphs");
                model.graph = parseGraph(in.bytes(), 0);
                hasGraph = true;
                break;
            case 8:
                model.opsets.push_back(parseOpset(in.bytes()));
                break;
            case 14: {
                MessageReader entry(in.bytes(), "a StringStringEntryProto");
                auto& [key, value] = model.metadata.emplace_back();
                while (entry.next())
                    if (entry.field() == 1)
                        key = entry.text();
                    else if (entry.field() == 2)
                        value = entry.text();
                break;
            }
            case 25:
                model.functions.push_back(parseFunction(in.bytes()));
                break;
            default:
                break;
        }
    if (bytes.empty()) fail(Status::Truncated, "the file is empty");
    if (model.irVersion < 1)
        fail(Status::BadFormat, "the file has no ir_version: it is no ONNX model, or it ends too early");
    if (!hasGraph) fail(Status::Truncated, "the file has no graph: it is no ONNX model, or it ends too early");
    if (model.opsets.empty())
        fail(Status::Truncated, "the file has no opset_import: it is no ONNX model, or it ends too early");
    return model;
}

}  // namespace mnnc::onnx
