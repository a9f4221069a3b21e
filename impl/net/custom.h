// Operators and backends that the host registers: the description of a node, and the host's functions for it. c_api/
// implements these classes; this file declares how operators are bound to the nodes of a net.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/const_data.h"
#include "net/net.h"

namespace mnnc {

// A named value: an attribute of a Plugin or an Extra, or a field of another table of parameters. The format does not
// mark which fields are in use: unused ones are 0, null or empty. Texts and lists lie in the model.
struct NodeAttribute {
    const char* key = "";
    int32_t type = 0;  // a wire DataType from the file; 0 where the file has none
    int32_t integer = 0;
    float real = 0;
    bool truth = false;
    const char* text = nullptr;
    std::span<const int32_t> integers;
    std::span<const float> reals;
    std::span<const uint8_t> truths;
    std::vector<const char*> texts;
    bool hasTensor = false;
    ConstData tensor;
    const char* function = nullptr;  // the name of the list of attributes that follows
    std::vector<NodeAttribute> attributes;
};

// A node as its file describes it.
struct NodeDescription {
    std::string name;
    std::string typeName;         // the name under which the host registers an operator, or schemaType
    const char* schemaType = "";  // "Plugin", "Extra" or another operator of the schema
    const char* engine = "";      // set for an Extra
    std::span<const uint8_t> info;
    std::vector<NodeAttribute> attributes;
    const void* parameters = nullptr;  // the table in the model's memory
    int32_t parameterTable = 0;        // its number in the union OpParameter
    size_t inputs = 0, outputs = 0;
};

class Frame;  // has the places of tensors in a run, see backend/frame.h

// A node in one plan of one session.
class HostComputation {
  public:
    HostComputation() = default;
    HostComputation(const HostComputation&) = delete;
    HostComputation& operator=(const HostComputation&) = delete;
    virtual ~HostComputation() = default;
    // Hot path. The tensors have their memory, row-major. Throws the error that the host reports.
    virtual void run(const Frame& frame) = 0;
};

// A node that the host computes.
class HostNode {
  public:
    HostNode() = default;
    HostNode(const HostNode&) = delete;
    HostNode& operator=(const HostNode&) = delete;
    virtual ~HostNode() = default;
    virtual const char* typeName() const noexcept = 0;
    // Returns the name of the host's backend; null: the host registered only the operator, which runs on the library's
    // CPU backend.
    virtual const char* backendName() const noexcept { return nullptr; }
    // The tensors have their shapes and outlive the computation; all are row-major.
    virtual std::unique_ptr<HostComputation> plan(std::span<Tensor* const> inputs,
                                                  std::span<Tensor* const> outputs) const = 0;
};

// A node of an operator of the host. Several sessions use it at the same time.
class HostOperatorNode : public HostNode {
  public:
    // Bit i: the shape rule reads the content of input i.
    virtual uint32_t contentInputs() const noexcept = 0;
    virtual void shape(const ShapeContext& context) const = 0;
};

class HostOperator {
  public:
    HostOperator() = default;
    HostOperator(const HostOperator&) = delete;
    HostOperator& operator=(const HostOperator&) = delete;
    virtual ~HostOperator() = default;
    virtual const std::string& name() const noexcept = 0;
    // The operator outlives its nodes.
    virtual std::unique_ptr<const HostOperatorNode> makeNode(NodeDescription description) const = 0;
};

using HostOperators = std::vector<std::shared_ptr<const HostOperator>>;

// A backend that the host registered. It computes nodes of operators that the library has; the library applies their
// shape rules.
class HostBackend {
  public:
    HostBackend() = default;
    HostBackend(const HostBackend&) = delete;
    HostBackend& operator=(const HostBackend&) = delete;
    virtual ~HostBackend() = default;
    virtual const std::string& name() const noexcept = 0;
    // Returns the node as the backend will compute it over tensors of these shapes; null, with a sentence in `reason`,
    // where the backend does not compute it. Throws the error that the host reports. The backend outlives its nodes.
    virtual std::unique_ptr<const HostNode> take(const Node& node, NodeDescription description,
                                                 std::span<Tensor* const> inputs, std::span<Tensor* const> outputs,
                                                 std::string& reason) const = 0;
};

using HostBackendPtr = std::shared_ptr<const HostBackend>;

// Parameters of a node that the host computes.
struct HostNodeParams : ParamsOf<HostNodeParams> {
    std::shared_ptr<const HostOperator> op;  // null: the node belongs to a backend
    std::unique_ptr<const HostNode> node;
};

// Returns the name under which a host may register an operator for this node: the type of a Plugin or an Extra, or the
// name of another operator of the schema that this library does not run. Empty: no host can run it.
std::string hostOperatorName(const wire::Op& op);

// Returns whether the schema has an operator of that name that this library runs itself.
bool libraryRuns(std::string_view name) noexcept;

// Returns the operator with that name, or null.
std::shared_ptr<const HostOperator> findHostOperator(const HostOperators& operators, const std::string& name);

// Returns whether the host has an operator for a node of this net that the library does not run.
bool hostRuns(const HostOperators& operators, const Net& net, const NetGraph& graph, const Node& node);

// Returns whether a node is bound to an operator of the host. Such a node has OpType::Plugin.
bool isHostNode(const Node& node) noexcept;

// Returns the description of a node, whose operator in the file is `op`. Throws what reading a damaged attribute
// throws.
NodeDescription describeNode(const Model& model, const Node& node, const wire::Op& op);

// Returns a net whose nodes are bound to the operators with their names. Throws what reading a damaged attribute
// throws.
std::shared_ptr<const Net> bindHostOperators(const Net& net, const HostOperators& operators);

}  // namespace mnnc
