// Operators and backends that the host brings: what a node of one is, and what the host does for it. The boundary
// implements the host's side; here operators are bound to the nodes of a net.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/const_data.h"
#include "net/net.h"

namespace mnnc {

// A named value: of a Plugin or an Extra, or a field of another table of parameters. The format keeps no mark of which
// fields are in use: those that are not are 0, null or empty. Texts and lists lie in the model.
struct NodeAttribute {
    const char* key = "";
    int32_t type = 0;  // a wire DataType, as the file says; 0 where it does not
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
    const char* function = nullptr;  // the name of a list of attributes, which follows
    std::vector<NodeAttribute> attributes;
};

// A node as its file describes it.
struct NodeDescription {
    std::string name;
    std::string typeName;         // under which an operator of the host is registered, or schemaType
    const char* schemaType = "";  // "Plugin", "Extra" or another operator of the schema
    const char* engine = "";      // of an Extra
    std::span<const uint8_t> info;
    std::vector<NodeAttribute> attributes;
    const void* parameters = nullptr;  // the table in the model's memory
    int32_t parameterTable = 0;        // its number in the union OpParameter
    size_t inputs = 0, outputs = 0;
};

class Frame;  // where tensors lie in a run, see backend/frame.h

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
    // The name of the host's backend; null: an operator of the host, which runs on the library's.
    virtual const char* backendName() const noexcept { return nullptr; }
    // The tensors have their shapes and outlive the computation; all are row-major.
    virtual std::unique_ptr<HostComputation> plan(std::span<Tensor* const> inputs,
                                                  std::span<Tensor* const> outputs) const = 0;
};

// A node of an operator of the host. Used by several sessions at the same time.
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

// A backend of the host's own. It computes nodes of operators that the library has; these keep their shape rules.
class HostBackend {
  public:
    HostBackend() = default;
    HostBackend(const HostBackend&) = delete;
    HostBackend& operator=(const HostBackend&) = delete;
    virtual ~HostBackend() = default;
    virtual const std::string& name() const noexcept = 0;
    // The node as the backend computes it over tensors of these shapes; null, with a sentence in `reason`: it does not.
    // Throws the error that the host reports. The backend outlives its nodes.
    virtual std::unique_ptr<const HostNode> take(const Node& node, NodeDescription description,
                                                 std::span<Tensor* const> inputs, std::span<Tensor* const> outputs,
                                                 std::string& reason) const = 0;
};

// What a node that the host computes has as its parameters.
struct HostNodeParams : ParamsOf<HostNodeParams> {
    std::shared_ptr<const HostOperator> op;  // null: the node is one of a backend
    std::unique_ptr<const HostNode> node;
};

// The name under which a host may register what runs this operator: the type of a Plugin or an Extra, the name of any
// other operator of the schema that this library does not run. Empty: no host can run it.
std::string hostOperatorName(const wire::Op& op);

// Whether the schema has an operator of that name which this library runs itself.
bool libraryRuns(std::string_view name) noexcept;

// The operator of that name, or null.
std::shared_ptr<const HostOperator> findHostOperator(const HostOperators& operators, const std::string& name);

// Whether the host has an operator for a node of this net that the library does not run.
bool hostRuns(const HostOperators& operators, const Net& net, const NetGraph& graph, const Node& node);

// Whether a node is bound to an operator of the host. Such a node has OpType::Plugin.
bool isHostNode(const Node& node) noexcept;

// A node as its file describes it: `op`. Throws what a damaged attribute throws.
NodeDescription describeNode(const Model& model, const Node& node, const wire::Op& op);

// A net whose nodes are bound to the operators of their names. Throws what a damaged attribute throws.
std::shared_ptr<const Net> bindHostOperators(const Net& net, const HostOperators& operators);

}  // namespace mnnc
