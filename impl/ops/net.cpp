// Parses the operators of a model, its subgraphs and its quantisation.
#include "ops/net.h"

#include "base/error.h"
#include "mnn_generated.h"
#include "ops/net_rewrites.h"

namespace mnnc {

namespace {

std::vector<int> ids(const flatbuffers::Vector<int32_t>* vector) {
    return vector ? std::vector<int>(vector->begin(), vector->end()) : std::vector<int>();
}

Node parseNode(const Model& model, const Graph& graph, const wire::Op& op) {
    Node node;
    node.type = static_cast<OpType>(op.type());
    node.inputs = ids(op.inputIndexes());
    node.outputs = ids(op.outputIndexes());
    if (op.name()) node.name = op.name()->str();
    if (node.name.empty()) node.name = graph.tensorNames[static_cast<size_t>(node.outputs.at(0))];
    const int format = static_cast<int>(op.defaultDimentionFormat());
    node.defaultFormat = format >= 0 && format <= 2 ? static_cast<Format>(format) : Format::NHWC;

    const OpDef* def = findOpDef(node.type);
    if (!def) {
        node.unsupported = "this library does not implement it";
        return node;
    }
    const OpArity& arity = *opArity(node.type);
    if (!arity.takes(node.inputs.size()) || !arity.makes(node.outputs.size()))
        fail(Status::BadParameter, "op '%s' (%s) has %zu inputs and %zu outputs", node.name.c_str(),
             opTypeName(node.type), node.inputs.size(), node.outputs.size());
    try {
        if (def->parse) node.params = def->parse(op, ParseContext{model, node});
        node.def = def;
    } catch (const Error& error) {
        // A form this library lacks must not stop loading; a damaged table must.
        if (error.status() != Status::NotSupported) throw;
        node.unsupported = error.message();
    }
    return node;
}

// What the file says about keeping tensors in int8; other types are never run so.
std::vector<TensorQuant> parseQuants(const Graph& graph) {
    std::vector<TensorQuant> quants;
    for (size_t id = 0; id < graph.describes.size(); ++id) {
        const wire::TensorDescribe* describe = graph.describes[id];
        const wire::TensorQuantInfo* info = describe ? describe->quantInfo() : nullptr;
        if (!info || !(info->scale() > 0)) continue;
        if (info->type() != wire::DataType::DT_INT8 && info->type() != wire::DataType::DT_INVALID) continue;
        quants.resize(graph.describes.size());
        quants[id] = {info->scale(), info->zero(), info->min(), info->max()};
    }
    return quants;
}

}  // namespace

std::shared_ptr<const Net> parseNet(std::shared_ptr<const Model> model, const Cancellation& cancel) {
    auto net = std::make_shared<Net>();
    for (const Graph& graph : model->graphs()) {
        NetGraph& parsed = net->graphs.emplace_back();
        parsed.source = &graph;
        parsed.nodes.reserve(graph.ops.size());
        for (const wire::Op* op : graph.ops) {
            cancel.check();
            parsed.nodes.push_back(parseNode(*model, graph, *op));
        }
        parsed.quants = parseQuants(graph);
        rewriteGroupedConvolutions(parsed, net->graphs.size() == 1);
        rewriteConvolutions3d(parsed);
        rewriteWrappedIndices(parsed);
    }
    net->model = std::move(model);
    return net;
}

}  // namespace mnnc
