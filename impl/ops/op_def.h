// What an operator IS: how its parameters are read, its shape rule, its geometry, its cost, whose content it
// needs. One OpDef per operator, in the table of its family's file; families.def lists the families.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/command.h"

namespace mnnc {

namespace wire {
struct Op;
}
class Model;
struct Graph;

// An op of a graph, parsed. Immutable and shared by all sessions of a net.
struct OpDef;
struct FixedOutput {
    Shape shape;
    Format format = Format::NCHW;
};
struct Node {
    OpType type{};
    const OpDef* def = nullptr;  // null: unknown or unsupported here; loading goes on, session creation fails
    std::string unsupported;     // why def is null
    std::string name;            // never empty: the op's own name, else the name of its first output
    std::vector<int> inputs;     // tensor ids of the graph
    std::vector<int> outputs;
    Format defaultFormat = Format::NHWC;
    ParamsPtr params;
    std::vector<FixedOutput> fixed;  // of a static model: the outputs as the file describes them

    template <typename T>
    const T& paramsAs() const {
        return mnnc::paramsAs<T>(params.get(), name.c_str());
    }
    template <typename T>
    const T* paramsIf() const noexcept {
        return mnnc::paramsIf<T>(params.get());
    }
};

inline bool isConstantNode(const Node& node) noexcept {
    return node.type == OpType::Const || node.type == OpType::TrainableParam;
}
// What makes its output without computing.
inline bool isLeafNode(const Node& node) noexcept {
    return node.type == OpType::Input || isConstantNode(node);
}

// What a parameter reader may use besides the op itself.
struct ParseContext {
    const Model& model;
    const Node& node;              // name, type, inputs and outputs are filled
    const Graph* graph = nullptr;  // of a static model, whose graph describes its tensors
};

// Shape rule: sets shape, type and format of every output. It is the second line of defence against hostile
// models: every index, product and offset is checked, and a failure throws Error(ComputeSizeError or
// BadRange, ...) with a sentence.
struct ShapeContext {
    const Node& node;
    std::span<Tensor* const> inputs;
    std::span<Tensor* const> outputs;

    const Tensor& in(int i) const { return *inputs[static_cast<size_t>(i)]; }
    Tensor& out(int i) const { return *outputs[static_cast<size_t>(i)]; }
    int inputCount() const { return static_cast<int>(inputs.size()); }
    const char* name() const { return node.name.c_str(); }
    // Output i takes type and format of input 0 and the given shape.
    void set(int i, const Shape& shape) const {
        out(i).shape = shape;
        out(i).type = in(0).type;
        out(i).format = in(0).format;
    }
    void set(int i, const Shape& shape, DataType type, Format format) const {
        out(i).shape = shape;
        out(i).type = type;
        out(i).format = format;
    }
    // Content of input i (declared by OpDef::valueInputs). Throws when it is not known or not of that type.
    std::span<const int32_t> intSpan(int i) const;  // int32 input, all elements
    std::vector<int64_t> ints(int i) const;         // the same
    int64_t intAt(int i, int64_t index = 0) const;
    std::span<const float> floats(int i) const;
};

// Geometry: turns an op into simpler commands. Helper tensors live as long as the commands.
class GeometryContext {
  public:
    virtual ~GeometryContext() = default;
    virtual Tensor* temporary(const Shape& shape, DataType type, Format format) = 0;
    virtual void emit(ValueCommand command) = 0;
    // Gives `output` (already shaped) its content now, copied from `bytes`: Shape, Rank, Size and other
    // results that follow from shapes alone.
    virtual void constant(Tensor* output, const void* bytes) = 0;

    // Emits a Raster into `output`.
    void raster(Tensor* output, std::vector<Tensor*> inputs, std::vector<Region> regions, std::string name);
    // Emits a Raster that copies all of `input` linearly into `output` (equal element counts); costs nothing
    // when the pipeline can let the two share memory.
    void copyLinear(Tensor* output, Tensor* input, std::string name);
};

// Context of a geometry rule: the shape context's names, with outputs already shaped. in(i) may be read
// where its hasConstantValue is set.
struct OpContext : ShapeContext {
    GeometryContext& geometry;
    // The op itself as one command over these tensors.
    ValueCommand command() const;
};

// What output number `output` of a node was before the node runs, as a tensor.
struct EarlierOutput {
    size_t output;
    int tensor;
};

struct OpDef {
    OpType type;  // its arity is a row of operators.def
    // Reads the wire parameters (null: the op has none). Must test main_type before it touches `main`, check
    // every value that later becomes an index, a divisor or a size, and throw BadParameter with a sentence.
    ParamsPtr (*parse)(const wire::Op& op, const ParseContext& context) = nullptr;
    // The inputs that the operator writes in place, though the file does not list them: their tensors are further
    // outputs of the node, behind the listed ones. Null: none.
    std::vector<size_t> (*writtenInputs)(const Params& params) = nullptr;
    // Null: output i takes shape, type and format of input i (of input 0 when there is one output).
    void (*shape)(const ShapeContext& context) = nullptr;
    // Null: the op becomes one command of its own type.
    void (*geometry)(const OpContext& context) = nullptr;
    // Bit i: the shape rule (or the geometry) reads the content of input i. Null: none.
    uint32_t (*valueInputs)(const Node& node) = nullptr;
    // Bit i: content input i is an offset and decides no extent. Null: none. When only a run makes such values, the op
    // is one command of its own type (with one output) that reads them, and a plan stands as long as the shape rule
    // gives the same shape.
    uint32_t (*dynamicOffsetInputs)(const Node& node) = nullptr;
    // Bit i: executing the op needs only the shape of input i (never its bytes). Null: none.
    uint32_t (*shapeOnlyInputs)(const Node& node) = nullptr;
    // Where other operators write the same outputs: changes the node so that these outputs begin as what they were
    // before, which keeps the elements that the operator does not write. Returns whether that was necessary: then the
    // node has parameters of its own. Null: the operator writes whole outputs.
    bool (*keepRest)(Node& node, std::span<const EarlierOutput> outputs) = nullptr;
    // Multiply-adds or element operations of one execution, as 2 x MACs for convolution-like ops. Null:
    // output elements.
    double (*flops)(const ShapeContext& context) = nullptr;
};

// The table of one family, defined in its own file and listed in families.def.
using OpFamily = std::span<const OpDef>;

// The definition of an operator, or nullptr when this library has none.
const OpDef* findOpDef(OpType type) noexcept;

// The default shape rule, for families that call it explicitly.
void copyShapes(const ShapeContext& context);

}  // namespace mnnc
