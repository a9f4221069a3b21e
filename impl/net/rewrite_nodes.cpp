// Finds producers, consumers and known values among the present nodes of a graph.
#include "net/rewrite_nodes.h"

#include "mnn_generated.h"
#include "ops/binary.h"
#include "ops/source.h"

namespace mnnc {

namespace {

// The limit of the recursion. It bounds the work: lists are never empty, so a Concat gives up after kMaxRank parts.
constexpr int kMaxDepth = 6;

bool computesExtents(OpType type) {
    return type == OpType::Shape || type == OpType::SliceTf || type == OpType::Concat || type == OpType::BinaryOp;
}

}  // namespace

RewriteNodes::RewriteNodes(NetGraph& graph)
    : graph_(graph), producers_(graph.source->tensorNames.size(), kNoNode), consumers_(producers_.size()) {
    for (const Node& node : graph.nodes) nodes_.push_back(&node);
    for (const Rewrite& rewrite : graph.rewrites) {
        nodes_[rewrite.place] = &rewrite.node;
        for (const size_t i : rewrite.replaced) nodes_[i] = nullptr;
    }
    std::vector<bool> twice(producers_.size(), false);
    for (size_t i = 0; i < nodes_.size(); ++i) {
        if (!nodes_[i]) continue;
        for (const int id : nodes_[i]->inputs)
            if (id >= 0) consumers_[static_cast<size_t>(id)].push_back(i);
        for (const int id : nodes_[i]->outputs) {
            const auto at = static_cast<size_t>(id);
            twice[at] = twice[at] || producers_[at] != kNoNode;
            producers_[at] = i;
        }
    }
    for (size_t id = 0; id < producers_.size(); ++id)
        if (twice[id]) producers_[id] = kNoNode;
}

const Node* RewriteNodes::ofType(size_t i, OpType type) const {
    const Node* found = node(i);
    return found && found->def && found->type == type ? found : nullptr;
}

size_t RewriteNodes::onlyConsumer(int id) const {
    return producer(id) != kNoNode && consumers(id).size() == 1 ? consumers(id)[0] : kNoNode;
}

bool RewriteNodes::isTranspose(size_t i, const List& order) const {
    const Node* node = ofType(i, OpType::Transpose);
    return node && constant(node->inputs[1]) == order;
}

const Node* RewriteNodes::plainReshape(size_t i) const {
    const Node* node = ofType(i, OpType::Reshape);
    const wire::Reshape* table = node && node->inputs.size() == 2 ? op(i).main_as_Reshape() : nullptr;
    return table && table->dimType() == wire::MNN_DATA_FORMAT::NCHW ? node : nullptr;
}

const Node* RewriteNodes::plainConvert(size_t i) const {
    const Node* node = ofType(i, OpType::ConvertTensor);
    const wire::TensorConvertInfo* table = node ? op(i).main_as_TensorConvertInfo() : nullptr;
    constexpr auto kLast = wire::MNN_DATA_FORMAT::NHWC;
    return table && table->source() != kLast && table->dest() != kLast ? node : nullptr;
}

std::optional<List> RewriteNodes::constant(int id) const {
    const Node* made = ofType(producer(id), OpType::Const);
    const auto* params = made ? made->paramsIf<ConstParams>() : nullptr;
    if (!params || params->type != DataType::Int32 || !params->data || params->shape.elements() < 1 ||
        params->shape.elements() > kMaxRank)
        return {};
    read_.insert(id);
    const auto* values = static_cast<const int32_t*>(params->data);
    return List(values, values + params->shape.elements());
}

std::optional<List> ExtentValues::operator()(int id, int depth) const {
    if (depth > kMaxDepth) return {};
    if (const auto given = values_.find(id); given != values_.end()) return given->second;
    if (std::optional<List> values = nodes_.constant(id)) return values;
    const Node* node = nodes_.node(nodes_.producer(id));
    if (!node || !node->def) return {};
    if (node->type == OpType::Shape) {
        const auto shape = shapes_.find(node->inputs[0]);
        return shape == shapes_.end() ? std::nullopt : std::optional<List>(shape->second);
    }
    if (node->type == OpType::Unsqueeze) return (*this)(node->inputs[0], depth + 1);
    if (node->type == OpType::Concat) return joined(*node, depth);
    if (node->type == OpType::SliceTf) return slice(*node, depth);
    if (node->type == OpType::BinaryOp) return binary(*node, depth);
    return {};
}

std::optional<List> ExtentValues::joined(const Node& node, int depth) const {
    if (node.inputs.size() > static_cast<size_t>(kMaxRank)) return {};
    List all;
    for (const int input : node.inputs) {
        const std::optional<List> part = (*this)(input, depth + 1);
        if (!part || all.size() + part->size() > static_cast<size_t>(kMaxRank)) return {};
        all.insert(all.end(), part->begin(), part->end());
    }
    return all;
}

std::optional<List> ExtentValues::slice(const Node& node, int depth) const {
    const std::optional<List> begin = (*this)(node.inputs[1], depth + 1), count = (*this)(node.inputs[2], depth + 1);
    if (!begin || !count || begin->size() != 1 || count->size() != 1) return {};
    const std::optional<List> from = (*this)(node.inputs[0], depth + 1);
    if (!from) return {};
    const int64_t first = begin->front(), size = count->front(), length = static_cast<int64_t>(from->size());
    if (first < 0 || first > length || size < 1 || size > length - first) return {};
    return List(from->begin() + first, from->begin() + first + size);
}

std::optional<List> ExtentValues::binary(const Node& node, int depth) const {
    const auto* params = node.paramsIf<BinaryParams>();
    if (!params || params->relu) return {};
    const std::optional<List> a = (*this)(node.inputs[0], depth + 1), b = (*this)(node.inputs[1], depth + 1);
    if (!a || !b || a->size() != 1 || b->size() != 1) return {};
    int64_t result = 0;
    const int64_t x = a->front(), y = b->front();
    const bool overflows = params->code == kBinaryMul   ? __builtin_mul_overflow(x, y, &result)
                           : params->code == kBinaryAdd ? __builtin_add_overflow(x, y, &result)
                           : params->code == kBinarySub ? __builtin_sub_overflow(x, y, &result)
                                                        : true;
    // A run computes with 32 bits.
    if (overflows || result < INT32_MIN || result > INT32_MAX) return {};
    return List{result};
}

bool ReplacedNodes::close(size_t place, Rewrite& rewrite) {
    std::vector<size_t> open(indices_.begin(), indices_.end());
    while (!open.empty()) {
        const size_t i = open.back();
        open.pop_back();
        if (i == place) continue;
        for (const int id : nodes_.node(i)->outputs) {
            if (nodes_.producer(id) != i) return false;
            rewrite.hidden.push_back(id);
            for (const size_t consumer : nodes_.consumers(id)) {
                if (indices_.count(consumer)) continue;
                if (!computesExtents(nodes_.node(consumer)->type)) return false;
                indices_.insert(consumer);
                open.push_back(consumer);
            }
        }
    }
    for (const size_t i : indices_)
        if (i != place) rewrite.replaced.push_back(i);
    return true;
}

}  // namespace mnnc
