// An ONNX model as in its file: structs whose names and data are views into the bytes of the file.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protobuf.h"

namespace mnnc::onnx {

// TensorProto.DataType.
enum class Elem : int32_t {
    Undefined = 0,
    Float = 1,
    Uint8 = 2,
    Int8 = 3,
    Uint16 = 4,
    Int16 = 5,
    Int32 = 6,
    Int64 = 7,
    String = 8,
    Bool = 9,
    Float16 = 10,
    Double = 11,
    Uint32 = 12,
    Uint64 = 13,
    Bfloat16 = 16,
    Uint4 = 21,
    Int4 = 22,
};
const char* elemName(Elem elem);

struct TensorData {  // TensorProto
    std::string_view name;
    std::vector<int64_t> dims;
    Elem type = Elem::Undefined;
    std::optional<Bytes> raw;
    std::vector<float> floats;
    std::vector<double> doubles;
    std::vector<int64_t> ints;  // int32_data, int64_data and uint64_data
    bool hasStrings = false;
    bool external = false;
    std::string_view location;
    uint64_t offset = 0;
    std::optional<uint64_t> length;
};

struct Graph;

struct Attribute {  // AttributeProto
    std::string_view name;
    std::string_view reference;  // in a function's body: the attribute of the call that it refers to
    int32_t type = 0;
    float f = 0;
    int64_t i = 0;
    std::string_view s;
    std::shared_ptr<TensorData> tensor;
    std::shared_ptr<Graph> graph;
    std::vector<float> floats;
    std::vector<int64_t> ints;
    std::vector<std::string_view> strings;
    bool hasSparse = false;
};

struct Node {  // NodeProto
    std::vector<std::string_view> inputs;
    std::vector<std::string_view> outputs;
    std::string_view name;
    std::string_view type;
    std::string_view domain;  // "" also for ai.onnx
    std::string_view overload;
    std::vector<Attribute> attributes;

    const Attribute* find(std::string_view attribute) const noexcept;
};

// An extent: a number, or a name or nothing where it is free.
struct Extent {
    int64_t value = -1;
    std::string_view name;
};

struct ValueInfo {  // ValueInfoProto
    std::string_view name;
    Elem type = Elem::Undefined;
    bool isTensor = false;  // not a sequence, map or optional
    bool hasShape = false;
    std::vector<Extent> shape;
};

struct Graph {  // GraphProto
    std::string_view name;
    std::vector<Node> nodes;
    std::vector<TensorData> initializers;
    std::vector<ValueInfo> inputs;
    std::vector<ValueInfo> outputs;
    std::vector<ValueInfo> values;
    bool hasSparse = false;
};

struct Opset {
    std::string_view domain;
    int64_t version = 0;
};

struct Function {  // FunctionProto
    std::string_view name;
    std::string_view domain;
    std::string_view overload;
    std::vector<std::string_view> inputs;
    std::vector<std::string_view> outputs;
    std::vector<std::string_view> attributes;  // attributes that a call must set
    std::vector<Attribute> defaults;
    std::vector<Node> nodes;
    std::vector<Opset> opsets;
};

struct ModelFile {  // ModelProto
    int64_t irVersion = 0;
    std::string_view producer;
    std::vector<Opset> opsets;
    std::vector<std::pair<std::string_view, std::string_view>> metadata;
    Graph graph;
    std::vector<Function> functions;
};

// Reads a model; its views live as long as the bytes. Throws Truncated, BadFormat, LimitExceeded (graphs nested deeper
// than 64, or more than 1024 attributes of a node or opsets).
ModelFile parseModel(Bytes bytes);

}  // namespace mnnc::onnx
