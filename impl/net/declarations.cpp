// Reads declared types, and applies shape rules to declared inputs; computes no values but shape arithmetic.
#include "net/declarations.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "mnn_generated.h"
#include "net/small_values.h"
#include "ops/cast.h"
#include "ops/control.h"
#include "ops/source.h"

namespace mnnc {

namespace {

// Returns the type of the codes where the file has a quantised type; 0 for a type that no tensor has.
int32_t plainType(wire::DataType type) {
    switch (type) {
        case wire::DataType::DT_INVALID:
        case wire::DataType::DT_STRING:
        case wire::DataType::DT_COMPLEX64:
        case wire::DataType::DT_COMPLEX128:
        case wire::DataType::DT_RESOURCE:
        case wire::DataType::DT_VARIANT:
            return 0;
        case wire::DataType::DT_QINT8:
            return static_cast<int32_t>(wire::DataType::DT_INT8);
        case wire::DataType::DT_QUINT8:
            return static_cast<int32_t>(wire::DataType::DT_UINT8);
        case wire::DataType::DT_QINT16:
            return static_cast<int32_t>(wire::DataType::DT_INT16);
        case wire::DataType::DT_QUINT16:
            return static_cast<int32_t>(wire::DataType::DT_UINT16);
        case wire::DataType::DT_QINT32:
            return static_cast<int32_t>(wire::DataType::DT_INT32);
        default:
            return static_cast<int32_t>(type);
    }
}

// Returns the nodes that replace others in sessions of all outputs, by the position of the last replaced one.
std::map<size_t, const Node*> standInsOf(const NetGraph& graph) {
    const std::set<int> outputs(graph.source->outputs.begin(), graph.source->outputs.end());
    std::map<size_t, const Node*> result;
    for (const Rewrite& rewrite : graph.rewrites)
        if (std::none_of(rewrite.hidden.begin(), rewrite.hidden.end(), [&](int id) { return outputs.count(id) > 0; }))
            result[rewrite.place] = &rewrite.node;
    return result;
}

// The tensors of the graph under one choice of the open extents. A tensor without a value is unknown.
class Trial {
  public:
    Trial(const NetGraph& graph, int64_t openExtent)
        : openExtent_(openExtent), tensors_(graph.source->tensorNames.size()) {
        for (const Node& node : graph.nodes)
            if (isLeafNode(node)) attempt(node);
        const std::map<size_t, const Node*> standIns = standInsOf(graph);
        for (const uint32_t i : graph.source->order) {
            const Node& node = graph.nodes[i];
            if (isLeafNode(node)) continue;
            attempt(node);
            if (const auto found = standIns.find(i); found != standIns.end()) attempt(*found->second);
        }
    }
    const std::optional<Tensor>& operator[](int id) const { return tensors_[static_cast<size_t>(id)]; }
    bool hasOpenExtents() const noexcept { return hasOpenExtents_; }

  private:
    void attempt(const Node& node) {
        for (const int id : node.outputs) tensors_[static_cast<size_t>(id)].reset();
        if (!node.def || runsSubgraphs(node)) return;
        try {
            if (node.type == OpType::Input)
                input(node);
            else
                shape(node);
        } catch (const Error& error) {
            if (error.status() == Status::OutOfMemory) throw;
        }
    }
    void input(const Node& node) {
        const auto& params = node.paramsAs<InputParams>();
        Tensor tensor;
        tensor.type = params.type;
        tensor.format = params.format;
        tensor.shape = params.shape;
        for (int axis = 0; axis < tensor.shape.rank(); ++axis)
            if (tensor.shape[axis] < 0) {
                tensor.shape[axis] = openExtent_;
                hasOpenExtents_ = true;
            }
        tensors_[static_cast<size_t>(node.outputs[0])] = std::move(tensor);
    }
    void shape(const Node& node) {
        const uint32_t wanted = node.def->valueInputs ? node.def->valueInputs(node) : 0;
        std::vector<Tensor> copies;
        copies.reserve(node.inputs.size());
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            const std::optional<Tensor>& known = tensors_[static_cast<size_t>(node.inputs[i])];
            if (!known) return;
            Tensor& copy = copies.emplace_back(*known);
            if (i < 32 && ((wanted >> i) & 1u) && !values_.load(copy)) return;
        }
        std::vector<Tensor> made(node.outputs.size());
        std::vector<Tensor*> inputs, outputs;
        for (Tensor& tensor : copies) inputs.push_back(&tensor);
        for (Tensor& tensor : made) outputs.push_back(&tensor);
        (node.def->shape ? node.def->shape : copyShapes)(ShapeContext{node, inputs, outputs});
        if (isConstantNode(node))
            made[0].stored = &node.paramsAs<ConstParams>();
        else
            values(node, inputs, outputs);
        for (size_t i = 0; i < node.fixed.size(); ++i) {
            made[i].shape = node.fixed[i].shape;
            made[i].format = node.fixed[i].format;
        }
        for (size_t i = 0; i < made.size(); ++i) {
            made[i].elements();  // throws when the size is out of range
            for (const int64_t extent : made[i].shape)
                if (extent > INT32_MAX) fail(Status::Overflow, "an extent is above 2^31 - 1");
            tensors_[static_cast<size_t>(node.outputs[i])] = std::move(made[i]);
        }
    }
    // A rule that fails leaves the shapes unchanged.
    void values(const Node& node, const std::vector<Tensor*>& inputs, const std::vector<Tensor*>& outputs) {
        try {
            values_.compute(node, inputs, outputs);
        } catch (const Error& error) {
            if (error.status() == Status::OutOfMemory) throw;
        }
    }

    const int64_t openExtent_;
    bool hasOpenExtents_ = false;
    std::vector<std::optional<Tensor>> tensors_;
    SmallValues values_;
};

bool sameKind(const Tensor& a, const Tensor& b) {
    return a.type == b.type && a.format == b.format && a.shape.rank() == b.shape.rank();
}

// Returns the declaration that all trials which know the tensor agree on.
std::optional<Declaration> agreed(const std::vector<std::optional<Tensor>>& trials) {
    const Tensor* first = nullptr;
    Declaration result;
    size_t known = 0;
    for (const std::optional<Tensor>& tensor : trials) {
        if (!tensor) continue;
        ++known;
        if (!first) {
            first = &*tensor;
            result = {tensor->type, tensor->format, tensor->shape};
            continue;
        }
        if (!sameKind(*first, *tensor)) return std::nullopt;
        for (int axis = 0; axis < result.shape.rank(); ++axis)
            if (tensor->shape[axis] != first->shape[axis]) result.shape[axis] = -1;
    }
    if (!first) return std::nullopt;
    // The result for one size proves nothing about others.
    if (known == 1 && trials.size() > 1)
        for (int axis = 0; axis < result.shape.rank(); ++axis) result.shape[axis] = -1;
    return result;
}

}  // namespace

DeclaredTypes::DeclaredTypes(const Net& net)
    : graph_(net.graphs[0]), producers_(graph_.source->tensorNames.size(), kNoNode) {
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
        for (const int id : graph_.nodes[i].outputs) {
            size_t& producer = producers_[static_cast<size_t>(id)];
            // A constant that an operator writes keeps its type.
            if (producer == kNoNode || !isConstantNode(graph_.nodes[producer])) producer = i;
        }
}

const Node* DeclaredTypes::producerOf(int id) const {
    const size_t producer = producers_[static_cast<size_t>(id)];
    return producer == kNoNode ? nullptr : &graph_.nodes[producer];
}

int32_t DeclaredTypes::operator()(int id) const {
    if (const Node* producer = producerOf(id)) {
        const wire::Op& op = *graph_.source->ops[producers_[static_cast<size_t>(id)]];
        if (producer->type == OpType::Input && op.main_as_Input()) return plainType(op.main_as_Input()->dtype());
        if (isConstantNode(*producer) && op.main_as_Blob()) return plainType(op.main_as_Blob()->dataType());
        if (producer->type == OpType::Cast && op.main_as_CastParam()) return plainType(op.main_as_CastParam()->dstT());
    }
    const wire::TensorDescribe* describe = graph_.source->describe(id);
    return describe && describe->blob() ? plainType(describe->blob()->dataType()) : 0;
}

bool DeclaredTypes::shownAsHalf(int id) const {
    const Node* producer = producerOf(id);
    return (*this)(id) == static_cast<int32_t>(wire::DataType::DT_HALF) && !(producer && isConstantNode(*producer));
}

std::vector<Declaration> declaredInputs(const Net& net, const std::vector<int32_t>& ids) {
    std::map<int, const InputParams*> operators;
    for (const Node& node : net.graphs[0].nodes)
        if (node.type == OpType::Input && node.params)
            operators.emplace(node.outputs[0], &node.paramsAs<InputParams>());
    std::vector<Declaration> result;
    result.reserve(ids.size());
    for (const int32_t id : ids) {
        const auto found = operators.find(id);
        if (found == operators.end()) fail(Status::Internal, "tensor %d is no input", id);
        result.push_back({found->second->type, found->second->format, found->second->shape});
    }
    return result;
}

std::vector<std::optional<Declaration>> declarations(const Net& net, const std::vector<int32_t>& ids) {
    // Sizes that most nets accept; the first is a batch of one.
    constexpr int64_t kOpenExtents[] = {1, 64, 96};
    std::vector<std::vector<std::optional<Tensor>>> trials(ids.size());
    for (const int64_t extent : kOpenExtents) {
        const Trial trial(net.graphs[0], extent);
        for (size_t i = 0; i < ids.size(); ++i) trials[i].push_back(trial[ids[i]]);
        if (!trial.hasOpenExtents()) break;
    }
    std::vector<std::optional<Declaration>> result;
    result.reserve(trials.size());
    for (const auto& tensors : trials) result.push_back(agreed(tensors));
    return result;
}

}  // namespace mnnc
