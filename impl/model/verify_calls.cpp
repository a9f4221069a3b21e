// Checks subgraphs and their callers: names resolve, no subgraph reaches itself, aliases cover the formal inputs. The
// absence of cycles and a depth limit bound the nesting.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/op_type.h"
#include "model/verify.h"
#include "model/wire_access.h"

namespace mnnc {

namespace {

constexpr int kMaxCallDepth = 64;
constexpr int64_t kMaxInstances = 4096;
constexpr int64_t kMaxCalledOps = 1 << 18;
constexpr int64_t kMaxCalledTensors = 1 << 22;

using Texts = std::set<std::string_view>;
using StringVecs = flatbuffers::Vector<flatbuffers::Offset<wire::StringVec>>;

// The subgraphs by name, with the names of their tensors and formal inputs. The names are collected once, because very
// many operators may refer to them.
class Names {
  public:
    explicit Names(const wire::Net& net) {
        if (!net.subgraphs()) return;
        for (const auto* graph : *net.subgraphs()) {
            if (!graphs_.emplace(graph->name()->string_view(), graph).second)
                fail(Status::BadFormat, "two subgraphs are called '%s'", graph->name()->c_str());
            Tensors& names = tensors_[graph];
            for (const auto* name : *graph->tensors()) names.all.insert(name->string_view());
            if (!graph->inputs()) continue;
            for (const int32_t id : *graph->inputs())
                names.inputs.insert(graph->tensors()->Get(static_cast<uint32_t>(id))->string_view());
        }
    }

    const wire::SubGraphProto* at(std::string_view name) const { return graphs_.at(name); }
    const wire::SubGraphProto* resolve(const OpPlace& place, const flatbuffers::String* name) const {
        if (vectorSize(name) == 0) place.fail(Status::BadParameter, "it calls a subgraph without a name");
        const auto found = graphs_.find(name->string_view());
        if (found == graphs_.end())
            place.fail(Status::BadIndex, "it calls subgraph '%s', which the model does not have", name->c_str());
        return found->second;
    }
    const Texts& inputs(const wire::SubGraphProto& graph) const { return tensors_.at(&graph).inputs; }
    bool hasTensor(const wire::SubGraphProto& graph, const flatbuffers::String* name) const {
        return tensors_.at(&graph).all.count(name->string_view()) > 0;
    }

  private:
    struct Tensors {
        Texts all, inputs;
    };
    std::map<std::string_view, const wire::SubGraphProto*> graphs_;
    std::map<const wire::SubGraphProto*, Tensors> tensors_;
};

Texts aliased(const OpPlace& place, const StringVecs* lists) {
    Texts names;
    if (!lists) return names;
    for (const auto* list : *lists) {
        if (!list) place.fail(Status::BadFormat, "an alias list is null");
        if (!list->data()) continue;
        for (const auto* name : *list->data()) names.insert(name->string_view());
    }
    return names;
}

void requireCovered(const OpPlace& place, const Names& names, const wire::SubGraphProto& graph, const Texts& fed) {
    for (const auto name : names.inputs(graph))
        if (!fed.count(name))
            place.fail(Status::BadParameter, "input '%.*s' of subgraph '%s' receives nothing",
                       static_cast<int>(name.size()), name.data(), graph.name()->c_str());
}

void verifyIf(const OpPlace& place, const wire::Op& op, const wire::IfParam& param, const Names& names) {
    const auto* thenGraph = names.resolve(place, param.then_graph());
    const auto* elseGraph = names.resolve(place, param.else_graph());
    if (vectorSize(param.aliases_inputs()) > vectorSize(op.inputIndexes()))
        place.fail(Status::BadParameter, "it has more input aliases than inputs");
    const auto fed = aliased(place, param.aliases_inputs());
    requireCovered(place, names, *thenGraph, fed);
    requireCovered(place, names, *elseGraph, fed);
    const int64_t outputs = vectorSize(op.outputIndexes());
    if (vectorSize(param.aliases_outputs()) == 0) {
        if (vectorSize(thenGraph->outputs()) < outputs || vectorSize(elseGraph->outputs()) < outputs)
            place.fail(Status::BadParameter, "a branch has fewer outputs than the operator (%lld)", asLong(outputs));
        return;
    }
    if (vectorSize(param.aliases_outputs()) != outputs)
        place.fail(Status::BadParameter, "it has %lld output aliases, %lld are needed",
                   asLong(vectorSize(param.aliases_outputs())), asLong(outputs));
    for (const auto* pair : *param.aliases_outputs()) {
        if (!pair || vectorSize(pair->data()) != 2)
            place.fail(Status::BadParameter, "an output alias needs a name for each branch");
        const auto* thenName = pair->data()->Get(0);
        const auto* elseName = pair->data()->Get(1);
        if (!names.hasTensor(*thenGraph, thenName) || !names.hasTensor(*elseGraph, elseName))
            place.fail(Status::BadIndex, "output alias '%s', '%s' names no tensors of the branches", thenName->c_str(),
                       elseName->c_str());
    }
}

// Without a condition graph all values are matched by position.
void verifyCountedLoop(const OpPlace& place, const wire::Op& op, const wire::SubGraphProto& body) {
    const int64_t inputs = vectorSize(op.inputIndexes());
    const int64_t outputs = vectorSize(op.outputIndexes());
    if (inputs < 2)
        place.fail(Status::BadParameter, "a loop needs a limit and a condition, it has %lld inputs", asLong(inputs));
    const int64_t carried = inputs - 2;
    if (outputs < carried || vectorSize(body.outputs()) != 1 + outputs || vectorSize(body.inputs()) != 2 + carried)
        place.fail(Status::BadParameter,
                   "a loop with %lld carried values and %lld outputs does not fit a body of %lld inputs and "
                   "%lld outputs",
                   asLong(carried), asLong(outputs), asLong(vectorSize(body.inputs())),
                   asLong(vectorSize(body.outputs())));
}

void verifyWhile(const OpPlace& place, const wire::Op& op, const wire::WhileParam& param, const Names& names) {
    const auto* body = names.resolve(place, param.body_graph());
    if (vectorSize(param.cond_graph()) == 0) return verifyCountedLoop(place, op, *body);
    const auto* condition = names.resolve(place, param.cond_graph());
    if (vectorSize(condition->outputs()) < 1)
        place.fail(Status::BadParameter, "condition '%s' has no output", condition->name()->c_str());
    if (vectorSize(param.aliases_inputs()) > vectorSize(op.inputIndexes()))
        place.fail(Status::BadParameter, "it has more input aliases than inputs");
    const auto fed = aliased(place, param.aliases_inputs());
    requireCovered(place, names, *body, fed);
    requireCovered(place, names, *condition, fed);
    if (vectorSize(param.aliases_outputs()) != vectorSize(op.outputIndexes()))
        place.fail(Status::BadParameter, "it has %lld output aliases, %lld are needed",
                   asLong(vectorSize(param.aliases_outputs())), asLong(vectorSize(op.outputIndexes())));
    for (const auto* name : *param.aliases_outputs())
        if (!names.hasTensor(*body, name))
            place.fail(Status::BadIndex, "output alias '%s' names no tensor of the body", name->c_str());
    if (!param.aliases_updates()) return;
    for (const auto* pair : *param.aliases_updates()) {
        if (!pair || vectorSize(pair->data()) != 2)
            place.fail(Status::BadParameter, "an update alias needs an output and an input");
        const auto* from = pair->data()->Get(0);
        const auto to = pair->data()->Get(1)->string_view();
        const bool known = (names.hasTensor(*body, from) || names.hasTensor(*condition, from)) &&
                           (names.inputs(*body).count(to) || names.inputs(*condition).count(to));
        if (!known)
            place.fail(Status::BadIndex, "update alias '%s' -> '%s' does not resolve", from->c_str(), to.data());
    }
}

// Returns the subgraphs that an operator calls; its parameters must have been checked.
std::vector<const wire::SubGraphProto*> callees(const wire::Op& op, const Names& names) {
    std::vector<const wire::SubGraphProto*> result;
    const auto add = [&](const flatbuffers::String* name) {
        if (vectorSize(name) > 0) result.push_back(names.at(name->string_view()));
    };
    const auto type = static_cast<OpType>(op.type());
    if (const auto* param = type == OpType::If ? op.main_as_IfParam() : nullptr) {
        add(param->then_graph());
        add(param->else_graph());
    } else if (const auto* loop = type == OpType::While ? op.main_as_WhileParam() : nullptr) {
        add(loop->cond_graph());
        add(loop->body_graph());
    }
    return result;
}

// The size of the tree of calls below one call of a subgraph: in a session every call site is a separate instance.
struct CallTree {
    bool open = true;
    int height = 0;
    int64_t instances = 1;
    int64_t ops = 0, tensors = 0;  // of all instances
};

struct CallTrees {
    std::map<const wire::SubGraphProto*, CallTree> of;
    int64_t siteTensors = 0;  // of the subgraphs of all call sites, also of those that no operator reaches
};

// Each instance has a place for each name, used or not, and for each of its inputs and outputs.
int64_t tensorsOf(const wire::SubGraphProto& graph) {
    return vectorSize(graph.tensors()) + vectorSize(graph.inputs()) + vectorSize(graph.outputs());
}

CallTree visit(const wire::SubGraphProto* graph, const Names& names, CallTrees& trees, int depth) {
    const auto [place, isNew] = trees.of.try_emplace(graph);
    CallTree& tree = place->second;
    if (!isNew && tree.open) fail(Status::Cycle, "subgraph '%s' calls itself", graph->name()->c_str());
    if (!isNew) return tree;
    if (depth > kMaxCallDepth) fail(Status::LimitExceeded, "subgraphs are nested deeper than %d", kMaxCallDepth);
    tree.ops = vectorSize(graph->nodes());
    tree.tensors = tensorsOf(*graph);
    for (const auto* op : *graph->nodes())
        for (const auto* callee : callees(*op, names)) {
            const CallTree inner = visit(callee, names, trees, depth + 1);
            tree.height = std::max(tree.height, inner.height + 1);
            tree.instances = std::min(tree.instances + inner.instances, kMaxInstances + 1);
            tree.ops = std::min(tree.ops + inner.ops, kMaxCalledOps + 1);
            tree.tensors = std::min(tree.tensors + inner.tensors, kMaxCalledTensors + 1);
            trees.siteTensors = std::min(trees.siteTensors + tensorsOf(*callee), kMaxCalledTensors + 1);
        }
    if (tree.height > kMaxCallDepth) fail(Status::LimitExceeded, "subgraphs are nested deeper than %d", kMaxCallDepth);
    tree.open = false;
    return tree;
}

void verifyCallers(const WireGraph& graph, const Names& names) {
    for (uint32_t i = 0; i < graph.ops->size(); ++i) {
        const auto* op = graph.ops->Get(i);
        const OpPlace place(graph, i, *op);
        const auto type = static_cast<OpType>(op->type());
        if (const auto* param = type == OpType::If ? op->main_as_IfParam() : nullptr)
            verifyIf(place, *op, *param, names);
        else if (const auto* loop = type == OpType::While ? op->main_as_WhileParam() : nullptr)
            verifyWhile(place, *op, *loop, names);
    }
}

}  // namespace

void verifyCalls(const wire::Net& net) {
    const Names names(net);
    WireGraph main;
    main.ops = net.oplists();
    verifyCallers(main, names);
    if (!net.subgraphs()) return;
    for (const auto* proto : *net.subgraphs()) {
        WireGraph graph;
        graph.title = "subgraph '" + proto->name()->str() + "': ";
        graph.ops = proto->nodes();
        verifyCallers(graph, names);
    }
    CallTrees trees;
    for (const auto* graph : *net.subgraphs()) visit(graph, names, trees, 0);
    int64_t instances = 0, ops = 0, tensors = trees.siteTensors;
    for (const auto* op : *net.oplists())
        for (const auto* callee : callees(*op, names)) {
            const CallTree& tree = trees.of.at(callee);
            instances += tree.instances;
            ops += tree.ops;
            tensors += tree.tensors;
        }
    if (instances > kMaxInstances)
        fail(Status::LimitExceeded, "the operators call %lld subgraphs in all, at most %lld are run", asLong(instances),
             asLong(kMaxInstances));
    if (ops > kMaxCalledOps)
        fail(Status::LimitExceeded, "the calls of subgraphs make %lld operators, at most %lld are run", asLong(ops),
             asLong(kMaxCalledOps));
    if (tensors > kMaxCalledTensors)
        fail(Status::LimitExceeded, "the calls of subgraphs make more than %lld tensors", asLong(kMaxCalledTensors));
}

}  // namespace mnnc
