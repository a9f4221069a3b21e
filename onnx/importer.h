// Visits the nodes of a model, of its functions and of its bodies, and lets the table turn each into operators.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "budget.h"
#include "call.h"
#include "net_writer.h"

namespace mnnc::onnx {

struct ImportOptions {
    std::map<std::string, std::vector<int64_t>> shapes;  // by input; -1 keeps an extent free
    std::map<std::string, int64_t> extents;              // by name of a free extent
    std::vector<std::string> outputs;                    // empty: those of the model
    WriteOptions write;
    uint64_t maxBytes = 0;  // for constants; 0: as many as the bytes of the model allow
    mnn_cancel_t* cancel = nullptr;
    std::function<void(uint64_t done, uint64_t total)> progress;  // may throw to end the conversion
};

// The functions of a model, by domain, name and overload. Throws BadFormat where two functions agree in all three.
using Functions = std::map<std::array<std::string_view, 3>, const Function*>;
Functions functionsOf(const ModelFile& model);

// State that all strategies for one model share.
struct Reading {
    const ModelFile& model;
    const ImportOptions& options;
    DataFolder folder;
    Evaluator evaluator;
    Budget budget;
    std::unordered_map<const TensorData*, ArrayPtr> tensors;  // tensors that have been read
    uint64_t done = 0;                                        // nodes
    uint64_t total = 0;
    Functions functions = functionsOf(model);
    // The order of each list of nodes that has been read. A function's nodes are read with every call.
    std::unordered_map<const std::vector<Node>*, std::vector<const Node*>> orders = {};
    // For each file of external data, the largest sum of an array's offset and its bytes in memory. It has been passed
    // to Budget::foundExternal().
    std::unordered_map<std::string, uint64_t> external = {};
    // keptFreeAxes: a Squeeze without axes has kept free axes, because the file declares no rank for its result.
    // dropsFreeAxes: the model is read again, and such a Squeeze drops them.
    bool keptFreeAxes = false, dropsFreeAxes = false;

    // The contents of a tensor in the file.
    ArrayPtr tensor(const TensorData& from);
};

// A problem of the conversion, for the report.
struct Problem {
    std::string node, domain, type, reason;
    int64_t opset = 0;
    int32_t status = 2;
};
struct Report {
    std::vector<Problem> problems;
    std::vector<std::string> notes;
    int64_t nodes = 0, operators = 0, folded = 0, functions = 0;
};

// Strategies for lines of text, whose height becomes 1.
constexpr int kTextStrategies[] = {6, 7};
// A strategy with numbers that fit a decoder with kept keys and values: the second extent of its masks is a sum.
constexpr int kKeptStrategy = 8;
// The last but one strategy for free extents: operators that refuse the numbers are not checked.
constexpr int kLenientStrategy = 9;
// The numbers of the first strategy, but extents that are equal in both probes count as fixed even where that may be by
// chance: a net that pads its input to a fixed length makes them equal.
constexpr int kTrustingStrategy = 10;

class Importer {
  public:
    explicit Importer(Reading& reading);

    // `strategy` chooses the numbers for free extents. Returns whether there are such extents, of inputs or of values
    // that depend on contents.
    bool run(int strategy);
    // Whether outputs have other ranks than the model declares.
    bool ranksDiffer() const { return ranksDiffer_; }
    Reading& reading() { return reading_; }
    bool hasFreeInputs() const { return free_; }
    Report& report() { return report_; }
    Builder& builder() { return builder_; }
    const std::vector<V>& netOutputs() const { return netOutputs_; }

    // For emit functions:
    ArrayPtr tensor(const TensorData& from) { return reading_.tensor(from); }
    const WriteOptions& writing() const { return options_.write; }
    // The attribute to which one in a function's body refers; null: there is none.
    const Attribute* resolve(const Attribute& attribute) const { return resolve(frame_, attribute.reference); }
    V madeValue(V value);
    // The outputs of a body with these values as formal inputs, built in the present scope.
    std::vector<V> body(const Graph& graph, const std::vector<V>& inputs);
    void note(std::string text);
    // Returns whether a value has a consumer that does not quantise it, or is an output of the graph.
    bool readElsewhere(std::string_view name) const;
    // Counts the branches that are read again, and limits them: nested ones are read twice as often at each level.
    bool mayReadBranchAgain() { return ++branchesReadAgain_ <= kMaxReadAgain; }
    // Counts a layer whose weights were codes in the file and stay so.
    void countCoded() { ++coded_; }

  private:
    using Names = std::unordered_map<std::string_view, V>;

    // The frame for name look-ups: a graph's own names, then those of the graphs around it (not in a function).
    struct Frame {
        Names names;
        std::unordered_map<std::string_view, const ValueInfo*> declared;
        const Frame* outer = nullptr;
        const std::vector<Opset>* opsets = nullptr;
        const Node* call = nullptr;  // the call, in the frame of a function
        const Function* function = nullptr;
        const Frame* caller = nullptr;
        std::unordered_set<std::string_view> readElsewhere;
    };

    // Counts visits of nodes and of their names, also where no operator results. Throws LimitExceeded.
    void spend(uint64_t visits);
    void requireNew(const Node& node) const;
    static const Attribute* resolve(const Frame* frame, std::string_view name);
    V find(std::string_view name) const;
    // Notes that a name of the file stands for this value, which may be null.
    static V countName(V value);
    int64_t opsetOf(std::string_view domain) const;
    static void declareValues(const Graph& graph, Frame& frame);
    void noteOpset();
    void readInitializers(const Graph& graph);
    void readInputs(const Graph& graph, int strategy);
    void limitEvaluator();
    void readNodes(const std::vector<Node>& nodes);
    void noteReaders(const std::vector<Node>& nodes, bool inBody);
    void addOutputs();
    void noteResults();
    void noteFloats(const Node& node, const std::vector<V>& inputs, int64_t codedBefore);
    void readNode(const Node& node);
    void callFunction(const Function& function, const Node& node, const std::vector<V>& inputs);
    void callEntry(const Node& node, std::vector<V> inputs);
    void problem(const Node& node, const std::string& reason, int32_t status);
    std::array<int64_t, kProbes> standsFor(const Extent& extent, size_t axis, size_t rank, int strategy);
    std::optional<std::array<int64_t, kProbes>> sumFor(const std::string& name, size_t axis, size_t rank, int strategy);

    Reading& reading_;
    const ModelFile& model_;
    const ImportOptions& options_;
    Builder builder_;
    Report report_;
    Frame* frame_ = nullptr;
    std::vector<const Function*> active_;
    std::map<std::string, std::array<int64_t, kProbes>, std::less<>> extents_;
    static constexpr int kMaxReadAgain = 1024;
    int branchesReadAgain_ = 0;
    uint64_t spent_ = 0;
    std::unordered_set<std::string> noted_;
    int lengths_ = 0;  // names of second extents of matrices, which are tokens or masks
    std::vector<V> netOutputs_;
    bool ranksDiffer_ = false;
    bool free_ = false;
    int depth_ = 0;
    int64_t coded_ = 0;
    // By operator: the number of nodes over quantised values that compute with floats.
    std::map<std::string, int64_t> floats_;
};

}  // namespace mnnc::onnx
