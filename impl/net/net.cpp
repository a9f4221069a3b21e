// Parses the operators of a model, its subgraphs and its quantisation.
#include "net/net.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "base/error.h"
#include "mnn_generated.h"
#include "model/wire_access.h"
#include "net/custom.h"
#include "net/net_coordinates.h"
#include "net/net_rewrites.h"

namespace mnnc {

namespace {

std::vector<int> ids(const flatbuffers::Vector<int32_t>* vector) {
    return vector ? std::vector<int>(vector->begin(), vector->end()) : std::vector<int>();
}

// Returns the description of a tensor in a static model.
FixedOutput describedTensor(const Graph& graph, int id, const char* name) {
    const wire::TensorDescribe* describe = graph.describe(id);
    if (!describe || !describe->blob())
        fail(Status::BadFormat, "op '%s': the static model does not describe tensor %d", name, id);
    const wire::Blob& blob = *describe->blob();
    const int format = static_cast<int>(blob.dataFormat());
    if (vectorSize(blob.dims()) > kMaxRank || format < 0 || format > 2)
        fail(Status::BadFormat,
             "op '%s': tensor %d has rank %lld and format %d, at most rank %d and a format of 0 to 2 are needed", name,
             id, asLong(vectorSize(blob.dims())), format, kMaxRank);
    FixedOutput fixed;
    fixed.format = static_cast<Format>(format);
    for (uint32_t i = 0; blob.dims() && i < blob.dims()->size(); ++i) {
        if (blob.dims()->Get(i) < 0)
            fail(Status::BadFormat, "op '%s': tensor %d has an extent of %d, which is negative", name, id,
                 blob.dims()->Get(i));
        fixed.shape.push(blob.dims()->Get(i));
    }
    fixed.shape.elements();
    return fixed;
}

// Returns the reason why a node without a definition cannot run.
std::string withoutDefinition(const wire::Op& op) {
    const auto type = static_cast<OpType>(op.type());
    if (type != OpType::Plugin && type != OpType::Extra) return "this library does not implement it";
    return format("no operator '%s' is registered (mnn_interpreter_add_operator)", hostOperatorName(op).c_str());
}

// The parameters of layers by their type, table and the operator's own file of weights. Where several operators of a
// file have one table, as the heads of detectors over maps of several sizes have, their weights are prepared once.
using Layers = std::map<std::tuple<OpType, const void*, std::string>, ParamsPtr>;

// Returns the place in `layers` for the parameters of this operator; null where they depend on more than type, table
// and file of weights.
ParamsPtr* placeOf(Layers& layers, const wire::Op& op, const Node& node) {
    const wire::Convolution2D* table = op.main_as_Convolution2D();
    // An operator with symmetricQuan may contain the steps of its input.
    if (!table || table->symmetricQuan() || node.inputs.size() != 1) return nullptr;
    return &layers[{node.type, table, op.externalPath() ? op.externalPath()->str() : ""}];
}

Node parseNode(const Model& model, const Graph& graph, const wire::Op& op, Layers& layers) {
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
        node.unsupported = withoutDefinition(op);
        return node;
    }
    const OpArity& arity = *opArity(node.type);
    if (!arity.takes(node.inputs.size()) || !arity.makes(node.outputs.size()))
        fail(Status::BadParameter, "op '%s' (%s) has %zu inputs and %zu outputs, which the operator does not allow",
             node.name.c_str(), opTypeName(node.type), node.inputs.size(), node.outputs.size());
    try {
        const bool isStatic = model.usage() == ModelUsage::StaticInference;
        ParamsPtr* const place = isStatic ? nullptr : placeOf(layers, op, node);
        if (place && *place) {
            node.params = *place;
        } else if (def->parse) {
            node.params = def->parse(op, ParseContext{model, node, isStatic ? &graph : nullptr});
            if (place) *place = node.params;
        }
        if (def->writtenInputs && node.params)
            for (const size_t input : def->writtenInputs(*node.params)) node.outputs.push_back(node.inputs[input]);
        for (size_t i = 0; isStatic && !isLeafNode(node) && i < node.outputs.size(); ++i)
            node.fixed.push_back(describedTensor(graph, node.outputs[i], node.name.c_str()));
        node.def = def;
    } catch (const Error& error) {
        // A form or a type that this library lacks must not prevent loading; a damaged table must.
        if (error.status() != Status::NotSupported && error.status() != Status::BadType) throw;
        node.unsupported = error.message();
    }
    return node;
}

// Returns the scales of the tensors that the file stores as int8, and which tensors it states to be floats. Scales for
// other types have no effect.
std::vector<TensorQuant> parseQuants(const Graph& graph) {
    std::vector<TensorQuant> quants;
    for (size_t id = 0; id < graph.describes.size(); ++id) {
        const wire::TensorDescribe* describe = graph.describes[id];
        const wire::TensorQuantInfo* info = describe ? describe->quantInfo() : nullptr;
        if (info && info->type() == wire::DataType::DT_FLOAT) {
            quants.resize(graph.describes.size());
            quants[id].isFloat = true;
        }
        if (!info || !(info->scale() > 0)) continue;
        if (info->type() != wire::DataType::DT_INT8 && info->type() != wire::DataType::DT_INVALID) continue;
        quants.resize(graph.describes.size());
        quants[id] = {info->scale(), std::round(info->zero()), info->min(), info->max()};
    }
    return quants;
}

// Rewrites need producers and consumers, and assume that file order is execution order.
bool canRewrite(const NetGraph& graph) {
    if (!std::is_sorted(graph.source->order.begin(), graph.source->order.end())) return false;
    std::vector<bool> made(graph.source->tensorNames.size(), false);
    for (const Node& node : graph.nodes)
        for (const int id : node.outputs) {
            if (made[static_cast<size_t>(id)]) return false;
            made[static_cast<size_t>(id)] = true;
        }
    return true;
}

// Very old static files have tensors without a producer, which are regions of others.
void refuseViews(NetGraph& graph) {
    const std::vector<bool> made = madeTensors(graph);
    for (Node& node : graph.nodes)
        if (readsView(node, made)) {
            node.def = nullptr;
            node.unsupported = "it reads a view of a very old static model";
        }
}

// Numbers the nodes of all graphs. A rewrite has the number of the last node that it replaces.
void numberNodes(Net& net) {
    int first = 0;
    for (NetGraph& graph : net.graphs) {
        for (size_t i = 0; i < graph.nodes.size(); ++i) graph.nodes[i].number = first + static_cast<int>(i);
        for (Rewrite& rewrite : graph.rewrites) rewrite.node.number = graph.nodes[rewrite.place].number;
        first += static_cast<int>(graph.nodes.size());
    }
}

}  // namespace

std::vector<bool> madeTensors(const NetGraph& graph) {
    std::vector<bool> made(graph.source->tensorNames.size(), false);
    for (const int id : graph.source->inputs) made[static_cast<size_t>(id)] = true;
    for (const Node& node : graph.nodes)
        for (const int id : node.outputs) made[static_cast<size_t>(id)] = true;
    return made;
}

bool readsView(const Node& node, const std::vector<bool>& made) {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](int id) { return id >= 0 && !made[static_cast<size_t>(id)]; });
}

std::shared_ptr<const Net> parseNet(std::shared_ptr<const Model> model, const Cancellation& cancel) {
    auto net = std::make_shared<Net>();
    Layers layers;
    for (const Graph& graph : model->graphs()) {
        NetGraph& parsed = net->graphs.emplace_back();
        parsed.source = &graph;
        parsed.nodes.reserve(graph.ops.size());
        for (const wire::Op* op : graph.ops) {
            cancel.check();
            parsed.nodes.push_back(parseNode(*model, graph, *op, layers));
        }
        parsed.quants = parseQuants(graph);
        if (model->usage() == ModelUsage::StaticInference) refuseViews(parsed);
        if (!canRewrite(parsed)) continue;
        rewriteGroupedConvolutions(parsed, net->graphs.size() == 1);
        rewriteConvolutions3d(parsed);
        rewriteWrappedIndices(parsed);
    }
    net->model = std::move(model);
    for (size_t graph = 0; graph < net->graphs.size(); ++graph)
        if (canRewrite(net->graphs[graph])) rewriteRecurrentLoops(*net, graph);
    numberNodes(*net);
    findCoordinates(*net);
    return net;
}

ParamsPtr renewedParams(const Net& net, size_t graphIndex, const Node& node) {
    const NetGraph& graph = net.graphs[graphIndex];
    const Node* first = graph.nodes.data();
    const bool fromFile = !std::less<>()(&node, first) && std::less<>()(&node, first + graph.nodes.size());
    if (!fromFile || !node.def || !node.def->parse) return node.params;
    const bool isStatic = net.model->usage() == ModelUsage::StaticInference;
    return node.def->parse(*graph.source->ops[static_cast<size_t>(&node - first)],
                           ParseContext{*net.model, node, isStatic ? graph.source : nullptr});
}

}  // namespace mnnc
