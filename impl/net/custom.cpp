// Binds the nodes of a net to operators of the host, and reads their tables.
#include "net/custom.h"

#include "base/error.h"
#include "mnn_generated.h"
#include "model/wire_access.h"
#include "net/schema_attributes.h"

namespace mnnc {

namespace {

using WireAttributes = flatbuffers::Vector<flatbuffers::Offset<wire::Attribute>>;

// Returns the host's side of a node that is bound to an operator.
const HostOperatorNode& hostNode(const Node& node) {
    return static_cast<const HostOperatorNode&>(*node.paramsAs<HostNodeParams>().node);
}

constexpr OpDef kHostNode = {
    .type = OpType::Plugin,
    .shape = [](const ShapeContext& context) { hostNode(context.node).shape(context); },
    .valueInputs = [](const Node& node) { return hostNode(node).contentInputs(); },
};

template <typename T>
std::span<const T> elementsOf(const flatbuffers::Vector<T>* vector) {
    if (vectorSize(vector) == 0) return {};
    return {reinterpret_cast<const T*>(vector->Data()), vector->size()};
}

const char* textOrNull(const flatbuffers::String* text) {
    return text ? text->c_str() : nullptr;
}

class AttributeReader {
  public:
    AttributeReader(const WeightFiles& files, const char* node) : files_(files), node_(node) {}

    std::vector<NodeAttribute> read(const WireAttributes* attributes) const {
        std::vector<NodeAttribute> result;
        for (uint32_t i = 0; attributes && i < attributes->size(); ++i) {
            const wire::Attribute* attribute = attributes->Get(i);
            if (!attribute || !attribute->key())
                fail(Status::BadParameter, "op '%s': attribute %u has no key", node_, i);
            result.push_back(read(*attribute));
        }
        return result;
    }

  private:
    NodeAttribute read(const wire::Attribute& wire) const {
        NodeAttribute attribute;
        attribute.key = wire.key()->c_str();
        attribute.type = static_cast<int32_t>(wire.type());
        attribute.integer = wire.i();
        attribute.real = wire.f();
        attribute.truth = wire.b();
        attribute.text = textOrNull(wire.s());
        if (const wire::ListValue* list = wire.list()) {
            attribute.integers = elementsOf(list->i());
            attribute.reals = elementsOf(list->f());
            attribute.truths = elementsOf(list->b());
            for (uint32_t i = 0; list->s() && i < list->s()->size(); ++i)
                attribute.texts.push_back(textOr(list->s()->Get(i)));
        }
        if (wire.tensor()) readTensor(*wire.tensor(), attribute);
        if (wire.func()) {
            attribute.function = textOr(wire.func()->name());
            attribute.attributes = read(wire.func()->attr());
        }
        return attribute;
    }

    // The attribute has no tensor where the library does not support it, e.g. one of strings.
    void readTensor(const wire::Blob& blob, NodeAttribute& attribute) const {
        try {
            attribute.tensor = decodeBlob(blob, files_, node_);
            attribute.hasTensor = true;
        } catch (const Error& error) {
            if (error.status() != Status::BadType) throw;
        }
    }

    const WeightFiles& files_;
    const char* node_;
};

}  // namespace

NodeDescription describeNode(const Model& model, const Node& node, const wire::Op& op) {
    NodeDescription description;
    description.name = node.name;
    description.schemaType = opTypeName(node.type);
    description.typeName = hostOperatorName(op);
    if (description.typeName.empty()) description.typeName = description.schemaType;
    description.inputs = node.inputs.size();
    description.outputs = node.outputs.size();
    description.parameters = op.main();
    description.parameterTable = static_cast<int32_t>(op.main_type());
    const WeightFiles files = model.weightFiles(op);
    const AttributeReader reader(files, node.name.c_str());
    if (const wire::Plugin* plugin = op.main_as_Plugin()) {
        description.attributes = reader.read(plugin->attr());
    } else if (const wire::Extra* extra = op.main_as_Extra()) {
        description.attributes = reader.read(extra->attr());
        description.engine = textOr(extra->engine());
        const std::span<const int8_t> info = elementsOf(extra->info());
        description.info = {reinterpret_cast<const uint8_t*>(info.data()), info.size()};
    } else {
        description.attributes = schemaAttributes(op.main(), description.parameterTable, files, node.name.c_str());
    }
    return description;
}

std::string hostOperatorName(const wire::Op& op) {
    const auto type = static_cast<OpType>(op.type());
    if (type == OpType::Plugin) return op.main_as_Plugin() ? copyText(op.main_as_Plugin()->type()) : "";
    if (type == OpType::Extra) return op.main_as_Extra() ? copyText(op.main_as_Extra()->type()) : "";
    const char* name = opTypeName(type);
    return name && !findOpDef(type) ? name : "";
}

bool libraryRuns(std::string_view name) noexcept {
#define OPERATOR(type, ...) \
    if (name == #type) return findOpDef(OpType::type) != nullptr;
#include "base/operators.def"
#undef OPERATOR
    return false;
}

std::shared_ptr<const HostOperator> findHostOperator(const HostOperators& operators, const std::string& name) {
    for (const std::shared_ptr<const HostOperator>& candidate : operators)
        if (candidate->name() == name) return candidate;
    return nullptr;
}

bool hostRuns(const HostOperators& operators, const Net& net, const NetGraph& graph, const Node& node) {
    if (operators.empty() || node.def || findOpDef(node.type)) return false;
    const auto place = static_cast<size_t>(&node - graph.nodes.data());
    return findHostOperator(operators, hostOperatorName(*graph.source->ops[place])) &&
           !(net.model->usage() == ModelUsage::StaticInference && readsView(node, madeTensors(graph)));
}

bool isHostNode(const Node& node) noexcept {
    return node.def == &kHostNode;
}

std::shared_ptr<const Net> bindHostOperators(const Net& net, const HostOperators& operators) {
    auto bound = std::make_shared<Net>(net);
    for (NetGraph& graph : bound->graphs) {
        const std::vector<bool> made = madeTensors(graph);
        for (size_t i = 0; i < graph.nodes.size(); ++i) {
            Node& node = graph.nodes[i];
            if (node.def || findOpDef(node.type) || readsView(node, made)) continue;
            const wire::Op& op = *graph.source->ops[i];
            auto params = std::make_shared<HostNodeParams>();
            params->op = findHostOperator(operators, hostOperatorName(op));
            if (!params->op) continue;
            params->node = params->op->makeNode(describeNode(*net.model, node, op));
            node.params = std::move(params);
            node.type = OpType::Plugin;
            node.def = &kHostNode;
            node.unsupported.clear();
        }
    }
    return bound;
}

}  // namespace mnnc
