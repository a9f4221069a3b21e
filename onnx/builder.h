// The net under construction: its tensors with their known properties, and its operators. Constants are folded while
// operators are added.
//
// Numbers replace the extents that a model leaves free. If there are any, every tensor is computed twice with two sets
// of numbers (probes): whatever is equal in both does not depend on them. Numbers that were only moved (the extents of
// a shape, split and joined) may be folded where they are equal. After arithmetic they may be equal by chance: such
// elements are in doubt, and so are the extents that follow from them (doubts.cpp).
#pragma once
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "budget.h"
#include "evaluator.h"

namespace mnnc::onnx {

constexpr size_t kProbes = 2;

struct Scope;
struct Value;

// Returns the beginning of a name of the file, which may have any length, for the net and the report.
std::string shortName(std::string_view name);

using V = Value*;
using Binary = wire::BinaryOpOperation;
using Unary = wire::UnaryOpOperation;

// The map from codes of 8 bits to real numbers: (code - zero) * scale. 128 is subtracted from codes of uint8.
struct Steps {
    float scale = 0, zero = 0;
    bool operator==(const Steps&) const = default;
};

// The codes of a constant: (code - zero) * scale, with one scale and zero point for each position of an axis, or one
// for all.
struct ConstantCodes {
    ArrayPtr codes;
    std::vector<float> scales, zeros;
    size_t axis = 0;
    bool isUnsigned = false;

    int codeAt(size_t i) const { return isUnsigned ? codes->bytes[i] - 128 : static_cast<int8_t>(codes->bytes[i]); }
};

struct Value {
    std::string name;  // the name of its tensor, of an input only the beginning; without a tensor, the wanted name
    Elem elem = Elem::Float;
    DataType type = DataType::DT_FLOAT;
    std::array<Dims, kProbes> dims;
    std::array<ArrayPtr, kProbes> content;  // null: unknown
    bool constant = false;                  // the contents are the same in every run
    bool fourBits = false;                  // a constant of codes of 4 bits, each in a byte
    // Elements from arithmetic over free extents, which may be equal in both probes by chance. Empty: none.
    std::vector<bool> doubts;
    // Axes whose extents are equal in both probes by chance. Empty: none.
    std::vector<bool> chance;
    bool failed = false;           // no operator produces it: the report has the reason
    bool named = false;            // the file has a name for it
    bool shared = false;           // other names of the file or other values stand for its tensor, too
    std::vector<Value*> elements;  // for a sequence: its tensors
    bool isSequence = false;
    bool isNothing = false;  // an optional value that is absent
    // For floats: the steps by which the net may keep them as codes.
    std::optional<Steps> steps;
    bool ownSteps = false;  // they must differ from those of the operator's inputs
    // The steps as they are written to the file. The engine takes equal scales for the same steps, so steps that must
    // differ get the next larger scale.
    Steps writtenSteps() const { return {ownSteps ? std::nextafter(steps->scale, 1e30f) : steps->scale, steps->zero}; }
    V inFront = nullptr;  // the value that an operator produced, if this one only has other extents
    // Set for codes that an operator computes only on demand: the values that they represent.
    V real = nullptr;
    V made = nullptr;  // these codes, once an operator produces them
    // For constant floats: their codes in the file.
    std::shared_ptr<const ConstantCodes> codes;
    Scope* scope = nullptr;
    int tensor = -1;      // index in the scope; -1: a constant that no operator uses yet
    size_t producer = 0;  // index of its operator in the scope; of constants and of values added by addLike() none

    size_t rank() const { return dims[0].size(); }
    bool fixed(size_t axis) const {
        return dims[0].at(axis) == dims[1].at(axis) && !(axis < chance.size() && chance[axis]);
    }
    bool allFixed() const { return dims[0] == dims[1] && chance.empty(); }
    bool doubted(size_t element) const { return element < doubts.size() && doubts[element]; }
    // The extent of a fixed axis; throws NotSupported for a free one.
    int64_t extent(size_t axis) const;
    const Array& array() const { return *content[0]; }
    int64_t elementCount() const { return mnnc::onnx::elementCount(dims[0], name); }
    bool isFloat() const { return type == DataType::DT_FLOAT; }
};

// The indices of values in their scope.
inline std::vector<int> tensorsOf(const std::vector<V>& values) {
    std::vector<int> tensors;
    tensors.reserve(values.size());
    for (const V value : values) tensors.push_back(value->tensor);
    return tensors;
}

struct Operator {
    wire::OpT op;
    ArrayPtr constant;  // for a Const, in place of its parameter
    // For a convolution: its weights. They are moved to its table when something changes them, or when it is written.
    ArrayPtr weights;
    bool transposed = false;  // [inputs, outputs]
    // For a convolution with codes of the model: their array, which is freed before the net is written.
    std::weak_ptr<const Array> codes;

    // Identifies the array that determines the weights; empty: there is none.
    std::weak_ptr<const Array> source() const { return weights ? std::weak_ptr<const Array>(weights) : codes; }
    void fillWeights();
    // Copies the weights in the format's layout to a place of any alignment. read: called with the bytes of the model
    // that were read; may be null.
    void copyWeights(void* to, const std::function<void(Bytes)>& read) const;
};

// A list of operators with its own tensors: the net, or the body of a loop or branch.
struct Scope {
    std::string name;
    Scope* outer = nullptr;
    std::vector<std::string> tensors;
    std::vector<V> values;  // by tensor
    std::unordered_set<std::string> taken;
    std::unordered_map<std::string, int64_t> numbers;  // by taken name
    std::vector<Operator> operators;
    std::vector<int> inputs;   // for a body
    std::vector<int> outputs;  // for a body
    // For a body: values of outer scopes that it uses, with the formal inputs that represent them.
    std::vector<std::pair<V, V>> captured;
    std::unordered_map<int, V> standInOf;  // the formal input for a tensor of the outer scope
    std::unordered_map<V, V> standIns;
};

struct Parameter {
    wire::OpParameterUnion value;
    Parameter() = default;
    template <typename T>
    Parameter(T table) {  // NOLINT: a table converts to a parameter
        value.Set(std::move(table));
    }
};

// An output whose extents and type a rule knows.
struct Output {
    std::array<Dims, kProbes> dims;
    DataType type = DataType::DT_FLOAT;
    std::vector<bool> chance = {};  // as of a value
};

class Builder {
  public:
    Builder(Evaluator& evaluator, Budget& budget) : evaluator_(evaluator), budget_(budget) {
        scope_ = &newScope("", nullptr);
    }
    Builder(const Builder&) = delete;
    Builder& operator=(const Builder&) = delete;
    ~Builder() { budget_.release(taken_); }

    // ---- Values ----
    // Charges the memory of the array, unless it is charged already. Throws LimitExceeded.
    V constant(const ArrayPtr& array, Elem elem, const std::string& name = "constant");
    // Throws LimitExceeded where there is no memory for an array that a rule is about to fill, whose size follows from
    // numbers of the model: the product of these, each of four bytes. Throws Overflow, and BadRange below 0.
    void requireRoom(const std::vector<int64_t>& extents) const;
    // Throws LimitExceeded where the arrays of all operators take more memory than constants may. An array that several
    // operators share counts for each of them, because the next steps may copy it.
    void requireArraysFit() const;
    V ints(const std::vector<int64_t>& values) { return constant(intList(values), Elem::Int64); }
    V scalar(int64_t value) { return constant(intScalar(value), Elem::Int64); }
    V real(float value) { return constant(floatScalar(value), Elem::Float); }
    // A number of rank 0 with the type of `like`.
    V number(double value, const Value& like);
    V input(const std::string& name, Elem elem, const std::array<Dims, kProbes>& dims,
            const std::vector<bool>& chance = {});
    // The same tensor as another element type with the same representation in the format.
    V alias(V value, Elem elem);
    V failedValue(const std::string& name);
    V nothing(const std::string& name);
    V sequence(const std::string& name, std::vector<V> elements);
    // The codes of values that have steps.
    V codesOf(V real, Elem elem);
    // Sets the weights of the convolution that was added last.
    void setWeights(ArrayPtr weights, bool transposed) {
        scope_->operators.back().weights = std::move(weights);
        scope_->operators.back().transposed = transposed;
    }
    // The same for codes of the model, which its table already contains.
    void setCodes(const ArrayPtr& codes, bool transposed) {
        scope_->operators.back().codes = codes;
        scope_->operators.back().transposed = transposed;
    }
    // The operator of this scope that produces a value; null: there is none.
    Operator* producer(V value);

    // ---- Operators ----
    // Adds an operator, or folds it. name() determines the names of its outputs.
    std::vector<V> op(OpType type, const Parameter& parameter, std::vector<V> inputs, size_t outputs);
    V op(OpType type, const Parameter& parameter, std::vector<V> inputs) {
        return op(type, parameter, std::move(inputs), 1)[0];
    }
    // Adds an operator with these outputs, without evaluating it.
    std::vector<V> given(OpType type, const Parameter& parameter, std::vector<V> inputs,
                         const std::vector<Output>& outputs);

    // New numbers for the extents of an output that only a run determines.
    std::array<Dims, kProbes> openDims(const std::vector<int64_t>& dims);
    // The extents of a list whose length is this value; the same numbers each time.
    std::array<Dims, kProbes> openList(V count);
    // The extents of the places, rows of `rank` numbers, at which a value is not 0; the same numbers each time.
    std::array<Dims, kProbes> openPlaces(V value, int64_t rank);
    // The extents of a tensor of this rank that these values contain; the same numbers each time.
    std::array<Dims, kProbes> openShape(V dims, size_t rank);
    // Finds the extents of an output that depend on contents: the declared shape of the node's output, or its rank.
    // Empty: such an output is an error.
    std::function<bool(size_t output, std::array<Dims, kProbes>& dims)> declared;
    // Called by a rule before it adds an operator: its first output has these extents, unless the file declares a shape
    // of that rank. `always`: even then, because it is no output of the node. Holds for the very next operator, so that
    // those that make its operands are added before.
    void open(std::array<Dims, kProbes> dims, bool always = false) {
        open_ = std::move(dims);
        openAlways_ = always;
    }
    void openRank(size_t rank) { open(openDims(freeAxes(rank))); }

    // Names the next operator and its outputs.
    void setName(std::string_view name) { name_ = shortName(name); }
    const std::string& name() const { return name_; }
    // Frees known contents, except those that operators own.
    void forgetContents() {
        for (Value& value : values_) {
            value.content = {};
            value.codes = nullptr;
        }
    }
    // The number of operators that became constants.
    int64_t foldedCount() const { return folded_; }

    // ---- Scopes ----
    Scope& scope() { return *scope_; }
    Scope& newScope(const std::string& name, Scope* outer);
    void enter(Scope& scope) { scope_ = &scope; }
    // A name that no scope has yet.
    std::string scopeName(const std::string& wished) { return wished + "_" + std::to_string(scopes_.size()); }
    // The tensor of a value in this scope: adds the Const of a constant, or captures a value of an outer scope.
    int tensorOf(V value);
    // The representative of an outer scope's value in this one.
    V local(V value);
    std::string freeName(const std::string& wished);
    // Gives an output of a node its name in the file, which the node's first operator may have. first: the number of
    // tensors of the scope before the node.
    void nameResult(V value, std::string_view name, size_t first);
    // Gives tensors of this scope their final names; other tensors with such a name are renamed.
    void giveNames(const std::vector<std::pair<V, std::string>>& names);
    // Adds a tensor with the extents and steps of another one to a scope; it has no producer yet.
    V addLike(Scope& scope, const Value& like, const std::string& name, DataType type);
    // Adds an Identity, even where the value is a constant.
    V copy(V value);
    const std::deque<Scope>& scopes() const { return scopes_; }
    std::deque<Scope>& scopes() { return scopes_; }
    const std::deque<Value>& values() const { return values_; }

    int probes = 1;  // 2 where the model has free extents
    // Where an operator refuses the probes' numbers, its outputs get open extents: other numbers may be valid, for
    // example where a net reshapes an axis that must be 48.
    bool lenient = false;
    int64_t unchecked = 0;  // operators for which that happened
    // Extents that are equal in both probes count as fixed, even if that may be by chance.
    bool trusts = false;
    // An extent of 1 behind windows counts as fixed: they reduce the height of a line of text to it.
    bool windowsReachOne = false;
    int64_t reachedOne = 0;  // such extents
    int64_t chances = 0;     // extents that may be equal in both probes by chance

  private:
    // A list of this many free axes. Throws NotSupported for more axes than the format has.
    static std::vector<int64_t> freeAxes(size_t rank);
    void addTensor(V value);
    void take(uint64_t bytes);
    void charge(const Array& array);
    void chargeTable(const wire::OpParameterUnion& table);
    V newValue(const std::string& name);
    Operand operand(const Value& value, size_t probe, bool all) const;
    // The rank of the first output, from types and ranks only; throws the error `refused` where it is unknown.
    size_t looseRank(OpType type, const Parameter& parameter, const std::vector<V>& inputs, const Error& refused) const;
    // How fold() evaluates an operator.
    struct Evaluation {
        bool allConstant = true;  // all inputs are constants
        bool clamped = false;     // an input has integers that were clamped to 32 bits
        bool computes = false;    // the contents of the outputs are computed, too
        int64_t maxElements = 0;  // outputs with more elements get no contents
    };
    Evaluation evaluationOf(OpType type, const Parameter& parameter, const std::vector<V>& inputs) const;
    std::vector<Result> evaluate(OpType type, const Parameter& parameter, const std::vector<V>& inputs,
                                 const Evaluation& how, size_t probe, const std::vector<bool>& unknown);
    void openOutput(size_t output, Value& value);
    bool markConstants(OpType type, const Parameter& parameter, const std::vector<V>& inputs, const Evaluation& how,
                       const std::vector<V>& outputs) const;
    bool fold(OpType type, const Parameter& parameter, const std::vector<V>& inputs, std::vector<V>& outputs);
    std::vector<bool> doubtsOf(OpType type, const Parameter& parameter, const std::vector<V>& inputs, size_t output,
                               const Value& value) const;
    std::vector<bool> movedDoubts(OpType type, const Parameter& parameter, const std::vector<V>& inputs, size_t output,
                                  const Value& value) const;
    std::vector<bool> elementDoubts(const std::vector<V>& inputs, const Value& value) const;
    void noteChance(OpType type, const Parameter& parameter, const std::vector<V>& inputs,
                    const std::vector<V>& outputs);
    void carryChance(OpType type, const std::vector<V>& inputs, const std::vector<V>& outputs);
    void noteChanceByNumber(const std::vector<V>& inputs, const std::vector<V>& outputs);
    void noteClamps(const Parameter& parameter, const std::vector<V>& inputs, Value& value);
    void addChance(Value& value, size_t axis);
    void append(OpType type, const Parameter& parameter, const std::vector<V>& inputs, const std::vector<V>& outputs);

    Evaluator& evaluator_;
    Budget& budget_;
    uint64_t taken_ = 0;  // of the budget
    std::deque<Value> values_;
    std::deque<Scope> scopes_;
    Scope* scope_;
    std::string name_ = "op";
    int64_t folded_ = 0;
    int64_t opened_ = 0;
    std::unordered_map<V, std::array<Dims, kProbes>> lists_, places_;
    std::map<std::pair<V, size_t>, std::array<Dims, kProbes>> shapes_;
    std::optional<std::array<Dims, kProbes>> open_;
    bool openAlways_ = false;
};

}  // namespace mnnc::onnx
