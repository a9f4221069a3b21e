// The net that is being built: its tensors with what is known of them, and its operators. Constants are folded while
// operators are added.
//
// Extents that a model leaves free are stood for by numbers. Where there are any, every tensor is looked at twice, with
// two sets of numbers (probes): what is equal in both does not depend on them. Numbers that were only moved about
// (the extents of a shape, taken apart and joined) may be folded where they are equal; once they went through
// arithmetic they may be equal by chance, so such elements are in doubt, and so are the extents that they decide
// (doubts.cpp).
#pragma once
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
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
using V = Value*;

// How codes of 8 bits stand for real numbers: (code - zero) * scale. Codes of uint8 count less 128.
struct Steps {
    float scale = 0, zero = 0;
    bool operator==(const Steps&) const = default;
};

// The codes of a constant: (code - zero) * scale, with a scale and a zero point for each position of an axis, or one
// for all.
struct ConstantCodes {
    ArrayPtr codes;
    std::vector<float> scales, zeros;
    size_t axis = 0;
    bool isUnsigned = false;

    int codeAt(size_t i) const { return isUnsigned ? codes->bytes[i] - 128 : static_cast<int8_t>(codes->bytes[i]); }
};

struct Value {
    std::string name;  // of its tensor, which may get another one where it is taken
    Elem elem = Elem::Float;
    DataType type = DataType::DT_FLOAT;
    std::array<Dims, kProbes> dims;
    std::array<ArrayPtr, kProbes> content;  // null: not known
    bool constant = false;                  // the contents are the same in every run
    // Elements that came out of arithmetic over free extents: they may be equal in both probes by chance. Empty: none.
    std::vector<bool> doubts;
    // Axes whose extents are equal in both probes by chance. Empty: none.
    std::vector<bool> chance;
    bool failed = false;           // no operator makes it: the report has the reason
    std::vector<Value*> elements;  // of a sequence: its tensors
    bool isSequence = false;
    bool isNothing = false;  // an optional value that is not there
    // Of floats: what the net says of keeping them as codes.
    std::optional<Steps> steps;
    bool ownSteps = false;  // they must differ from those of the operator's inputs
    V inFront = nullptr;    // where this one only has other extents: the value that an operator made
    // Of codes that no operator makes, unless something asks for them: the values that they stand for.
    V real = nullptr;
    V made = nullptr;  // and the codes, where an operator made them
    // Of floats that are constants: the codes that they were in the file.
    std::shared_ptr<const ConstantCodes> codes;
    Scope* scope = nullptr;
    int tensor = -1;  // in the scope; -1: a constant that no operator uses yet

    size_t rank() const { return dims[0].size(); }
    bool fixed(size_t axis) const {
        return dims[0].at(axis) == dims[1].at(axis) && !(axis < chance.size() && chance[axis]);
    }
    bool allFixed() const { return dims[0] == dims[1] && chance.empty(); }
    bool doubted(size_t element) const { return element < doubts.size() && doubts[element]; }
    // The extent of an axis that is fixed; throws NotSupported for a free one.
    int64_t extent(size_t axis) const;
    const Array& array() const { return *content[0]; }
    int64_t elementCount() const { return mnnc::onnx::elementCount(dims[0], name); }
    bool isFloat() const { return type == DataType::DT_FLOAT; }
};

struct Operator {
    wire::OpT op;
    ArrayPtr constant;  // of a Const, in place of its parameter
    // Of a convolution: its weights, which its table gets when something changes them, or when it is written.
    ArrayPtr weights;
    bool transposed = false;  // [inputs, outputs]

    void fillWeights();
    // The weights as the format has them, to a place of any alignment. read: gets the bytes of the model that were
    // read; may be null.
    void copyWeights(void* to, const std::function<void(Bytes)>& read) const;
};

// A list of operators with tensors of its own: the net, or the body of a loop or of a branch.
struct Scope {
    std::string name;
    Scope* outer = nullptr;
    std::vector<std::string> tensors;
    std::vector<V> values;  // of the tensors
    std::unordered_set<std::string> taken;
    std::unordered_map<std::string, int64_t> numbers;  // of names that were taken
    std::vector<Operator> operators;
    std::vector<int> inputs;   // of a body
    std::vector<int> outputs;  // of a body
    // Of a body: values of outer scopes that it uses, with the formal inputs that stand for them.
    std::vector<std::pair<V, V>> captured;
    std::unordered_map<V, V> standIns;
};

struct Parameter {
    wire::OpParameterUnion value;
    Parameter() = default;
    template <typename T>
    Parameter(T table) {  // NOLINT: a table is a parameter
        value.Set(std::move(table));
    }
};

class Builder {
  public:
    Builder(Evaluator& evaluator, Budget& budget) : evaluator_(evaluator), budget_(budget) {
        scope_ = &newScope("", nullptr);
    }

    // ---- Values ----
    V constant(ArrayPtr array, Elem elem, const std::string& name = "constant");
    V ints(const std::vector<int64_t>& values) { return constant(intList(values), Elem::Int64); }
    V scalar(int64_t value) { return constant(intScalar(value), Elem::Int64); }
    V real(float value) { return constant(floatScalar(value), Elem::Float); }
    // A number of the type of `like`, of rank 0.
    V number(double value, const Value& like);
    V input(const std::string& name, Elem elem, const std::array<Dims, kProbes>& dims,
            const std::vector<bool>& chance = {});
    // The same tensor as another element type, which the format holds alike.
    V alias(V value, Elem elem);
    V failedValue(const std::string& name);
    V nothing(const std::string& name);
    V sequence(const std::string& name, std::vector<V> elements);
    // Codes of values, which have steps.
    V codesOf(V real, Elem elem);
    // The weights of the convolution that was added last.
    void setWeights(ArrayPtr weights, bool transposed) {
        scope_->operators.back().weights = std::move(weights);
        scope_->operators.back().transposed = transposed;
    }
    // The operator of this scope that makes a value; null: none does.
    Operator* maker(V value);

    // ---- Operators ----
    // Adds an operator, or folds it. The names of its outputs come from `name()`.
    std::vector<V> op(OpType type, const Parameter& parameter, std::vector<V> inputs, size_t outputs);
    V op(OpType type, const Parameter& parameter, std::vector<V> inputs) {
        return op(type, parameter, std::move(inputs), 1)[0];
    }
    // Adds an operator whose outputs are those of another one, which is asked about in its place: one that has the
    // weights as inputs.
    V opLike(OpType type, const Parameter& parameter, std::vector<V> inputs, OpType askedType, const Parameter& asked,
             std::vector<V> askedInputs);
    // Adds an operator whose outputs have these extents and types, without asking.
    std::vector<V> given(OpType type, const Parameter& parameter, std::vector<V> inputs,
                         const std::vector<Result>& first, const std::vector<Result>& second);

    // Extents of an output that only a run decides: stands for them with new numbers.
    std::array<Dims, kProbes> openDims(const std::vector<int64_t>& dims);
    // Those of a list with as many elements as this value says, the same each time.
    std::array<Dims, kProbes> openList(V count);
    // Extents of a tensor of this rank that these values say, the same each time.
    std::array<Dims, kProbes> openShape(V dims, size_t rank);
    // What to do where the extents of an output depend on contents: the declared shape of the node's output, or its
    // rank. Empty: it is an error.
    std::function<bool(size_t output, std::array<Dims, kProbes>& dims)> declared;
    // The same, from the rule that adds the next operator: its first output has these, unless the file declares a shape
    // of that rank. `always`: in any case, because it is no output of the node.
    void open(std::array<Dims, kProbes> dims, bool always = false) {
        open_ = std::move(dims);
        openAlways_ = always;
    }
    void openRank(size_t rank) { open(openDims(freeAxes(rank))); }

    // The next operator and its outputs take this name.
    void setName(std::string name) { name_ = std::move(name); }
    const std::string& name() const { return name_; }
    // Gives back what is known of contents, but for those that operators have.
    void forgetContents() {
        for (Value& value : values_) {
            value.content = {};
            value.codes = nullptr;
        }
    }
    // How many operators became constants.
    int64_t foldedCount() const { return folded_; }

    // ---- Scopes ----
    Scope& scope() { return *scope_; }
    Scope& newScope(const std::string& name, Scope* outer);
    void enter(Scope& scope) { scope_ = &scope; }
    // A name that no scope has yet.
    std::string scopeName(const std::string& wished) { return wished + "_" + std::to_string(scopes_.size()); }
    // The tensor of a value in this scope: writes the Const of a constant, captures a value of an outer scope.
    int tensorOf(V value);
    // A value of an outer scope, as this one has it.
    V local(V value);
    std::string freeName(const std::string& wished);
    // Gives tensors of this scope their final names; others that have such a name get another one.
    void giveNames(const std::vector<std::pair<V, std::string>>& names);
    // A tensor of a scope, of the extents and steps of another one, which no operator makes yet.
    V addLike(Scope& scope, const Value& like, const std::string& name, DataType type);
    // An Identity in front of a value, which is an operator in any case.
    V copy(V value);
    const std::deque<Scope>& scopes() const { return scopes_; }
    std::deque<Scope>& scopes() { return scopes_; }
    const std::deque<Value>& values() const { return values_; }

    int probes = 1;  // 2 where the model has free extents
    // Where an operator refuses the numbers that stand for free extents, its outputs have open extents: other numbers
    // may do, as where a net collapses an axis that has to be 48.
    bool lenient = false;
    int64_t unchecked = 0;  // operators of which that is so
    // Extents that are equal in both probes count as fixed, also where that may be by chance.
    bool trusts = false;
    int64_t chances = 0;  // extents of which that is so

  private:
    // So many axes that are free. Throws NotSupported for more than the format has.
    static std::vector<int64_t> freeAxes(size_t rank);
    void addTensor(V value);
    V newValue(const std::string& name);
    Operand operand(const Value& value, size_t probe, bool all) const;
    // The rank of the first output, from types and ranks alone; throws what `refused` says where it is not known.
    size_t looseRank(OpType type, const Parameter& parameter, const std::vector<V>& inputs, const Error& refused) const;
    bool fold(OpType type, const Parameter& parameter, const std::vector<V>& inputs, std::vector<V>& outputs);
    std::vector<bool> doubtsOf(OpType type, const Parameter& parameter, const std::vector<V>& inputs, size_t output,
                               const Value& value) const;
    std::vector<bool> movedDoubts(OpType type, const Parameter& parameter, const std::vector<V>& inputs, size_t output,
                                  const Value& value) const;
    std::vector<bool> elementDoubts(const std::vector<V>& inputs, const Value& value) const;
    void noteChance(OpType type, const Parameter& parameter, const std::vector<V>& inputs,
                    const std::vector<V>& outputs);
    void carryChance(const std::vector<V>& inputs, const std::vector<V>& outputs);
    void noteChanceByNumber(const std::vector<V>& inputs, const std::vector<V>& outputs);
    void append(OpType type, const Parameter& parameter, const std::vector<V>& inputs, const std::vector<V>& outputs);

    Evaluator& evaluator_;
    Budget& budget_;
    std::deque<Value> values_;
    std::deque<Scope> scopes_;
    Scope* scope_;
    std::string name_ = "op";
    int64_t folded_ = 0;
    int64_t opened_ = 0;
    std::unordered_map<V, std::array<Dims, kProbes>> lists_;
    std::map<std::pair<V, size_t>, std::array<Dims, kProbes>> shapes_;
    std::optional<std::array<Dims, kProbes>> open_;
    bool openAlways_ = false;
};

}  // namespace mnnc::onnx
