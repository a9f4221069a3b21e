// The definition of an operator: its parameter reader, its shape rule, its geometry, its cost, and the inputs whose
// content it needs. One OpDef per operator, in the table of its family's file; families.def lists the families.
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

struct OpDef;
struct FixedOutput {
    Shape shape;
    Format format = Format::NCHW;
};

// A parsed operator of a graph. It is immutable and shared by all sessions of a net.
struct Node {
    OpType type{};
    const OpDef* def = nullptr;  // null: unknown or unsupported here; loading continues, session creation fails
    std::string unsupported;     // why def is null
    std::string name;            // never empty: the operator's own name, else the name of its first output
    std::vector<int> inputs;     // tensor ids of the graph
    std::vector<int> outputs;
    Format defaultFormat = Format::NHWC;
    ParamsPtr params;
    std::vector<FixedOutput> fixed;  // of a static model: the outputs as the file describes them
    int number = -1;                 // position in the file, counted through all graphs

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
// Returns whether a node produces its output without computing.
inline bool isLeafNode(const Node& node) noexcept {
    return node.type == OpType::Input || isConstantNode(node);
}

// The context of a parameter reader, besides the operator itself.
struct ParseContext {
    const Model& model;
    const Node& node;              // name, type, inputs and outputs are filled
    const Graph* graph = nullptr;  // static models only, whose graph describes its tensors
};

// Shape rule: sets shape, type and format of every output. It is the second line of defence against hostile models:
// every index, product and offset is checked, and a failure throws Error(ComputeSizeError or BadRange, ...) with a
// sentence.
struct ShapeContext {
    const Node& node;
    std::span<Tensor* const> inputs;
    std::span<Tensor* const> outputs;

    const Tensor& in(int i) const { return *inputs[static_cast<size_t>(i)]; }
    Tensor& out(int i) const { return *outputs[static_cast<size_t>(i)]; }
    int inputCount() const { return static_cast<int>(inputs.size()); }
    const char* name() const { return node.name.c_str(); }
    // Output i gets the type and format of input 0 and the given shape.
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
    // Returns the content of input i (declared by OpDef::valueInputs). Throws when it is unknown or has another type.
    std::span<const int32_t> intSpan(int i) const;  // int32 input, all elements
    std::vector<int64_t> ints(int i) const;         // the same
    int64_t intAt(int i, int64_t index = 0) const;
    std::span<const float> floats(int i) const;
};

// Geometry: turns an operator into simpler commands. Helper tensors live as long as the commands.
class GeometryContext {
  public:
    virtual ~GeometryContext() = default;
    virtual Tensor* temporary(const Shape& shape, DataType type, Format format) = 0;
    virtual void emit(ValueCommand command) = 0;
    // Sets the content of `output`, which has its shape, to a copy of `bytes`: for Shape, Rank, Size and other results
    // that follow from shapes alone.
    virtual void constant(Tensor* output, const void* bytes) = 0;

    // Emits a Raster into `output`.
    void raster(Tensor* output, std::vector<Tensor*> inputs, std::vector<Region> regions, std::string name);
    // Emits a Raster that copies all of `input` linearly into `output` (equal element counts); it costs nothing when
    // the pipeline can let the two share memory.
    void copyLinear(Tensor* output, Tensor* input, std::string name);
};

// Context of a geometry rule: that of the shape rule, with shaped outputs. in(i) may be read where its hasConstantValue
// is set.
struct OpContext : ShapeContext {
    GeometryContext& geometry;
    // Returns the operator itself as one command over these tensors.
    ValueCommand command() const;
};

// The tensor that has the value of output number `output` of a node before the node runs.
struct EarlierOutput {
    size_t output;
    int tensor;
};

struct OpDef {
    OpType type;  // its arity is a row of operators.def
    // Reads the wire parameters (null: the operator has none). Must test main_type before it accesses `main`, check
    // every value that later becomes an index, a divisor or a size, and throw BadParameter with a sentence.
    ParamsPtr (*parse)(const wire::Op& op, const ParseContext& context) = nullptr;
    // The inputs that the operator writes in place, although the file does not list them as outputs: they become
    // further outputs of the node, after the listed ones. Null: none.
    std::vector<size_t> (*writtenInputs)(const Params& params) = nullptr;
    // Null: output i has the shape, type and format of input i (of input 0 when there is one output).
    void (*shape)(const ShapeContext& context) = nullptr;
    // Called only where some output has elements. Null: the operator becomes one command of its own type.
    void (*geometry)(const OpContext& context) = nullptr;
    // Bit i: the shape rule (or the geometry) reads the content of input i. Null: none.
    uint32_t (*valueInputs)(const Node& node) = nullptr;
    // Bit i: content input i is an offset and determines no extent. Null: none. When only a run computes such values,
    // the operator becomes one command of its own type (with one output) that reads them, and a plan holds as long as
    // the shape rule gives the same shape.
    uint32_t (*dynamicOffsetInputs)(const Node& node) = nullptr;
    // Bit i: executing the operator needs only the shape of input i (never its bytes). Null: none.
    uint32_t (*shapeOnlyInputs)(const Node& node) = nullptr;
    // Called where other operators write the same outputs: changes the node so that these outputs begin with their
    // former values, which preserves the elements that the operator does not write. Returns whether a change was
    // necessary: then the node has parameters of its own. Null: the operator writes complete outputs.
    bool (*keepRest)(Node& node, std::span<const EarlierOutput> outputs) = nullptr;
    // Returns whether the operator keeps a state from run to run: it is never computed while planning, and loops and
    // branches may not contain it. Null: it keeps none.
    bool (*keeps)(const Params& params) = nullptr;
    // Operations of one execution, where a multiply-add counts as two. Null: one for each output element, or none where
    // `geometry` is set, because operators that are data movement cost nothing.
    double (*flops)(const ShapeContext& context) = nullptr;
};

inline bool keepsState(const Node& node) {
    return node.def && node.def->keeps && node.params && node.def->keeps(*node.params);
}

// The table of one family, defined in its own file and listed in families.def.
using OpFamily = std::span<const OpDef>;

// Returns the definition of an operator, or null when this library has none.
const OpDef* findOpDef(OpType type) noexcept;

// The default shape rule, for families that call it explicitly.
void copyShapes(const ShapeContext& context);
// OpDef::flops of operators with this many operations for each element of input 0.
template <int kOperations>
double flopsPerInput(const ShapeContext& context) {
    return kOperations * static_cast<double>(context.in(0).elements());
}

}  // namespace mnnc
