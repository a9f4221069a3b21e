// Assigns each tensor of the main graph to the first path that produces it or gets it as an input.
#include "schedule/net_parts.h"

#include <algorithm>

namespace mnnc {

namespace {

constexpr size_t kNone = SIZE_MAX;

// Tensor ids in the order in which they were added.
class IdList {
  public:
    explicit IdList(size_t tensors) : has_(tensors, false) {}
    bool has(int id) const { return has_[static_cast<size_t>(id)]; }
    // Returns false when the list contains it already.
    bool add(int id) {
        if (has(id)) return false;
        has_[static_cast<size_t>(id)] = true;
        ids_.push_back(id);
        return true;
    }
    const std::vector<int>& ids() const { return ids_; }

  private:
    std::vector<bool> has_;
    std::vector<int> ids_;
};

bool computes(const Node& node) {
    return !isLeafNode(node);
}

class Division {
  public:
    explicit Division(const NetGraph& graph);
    void add(const PartRequest& request, bool isWhole);
    NetParts finish();

  private:
    struct Part {
        explicit Part(size_t tensors) : inputs(tensors), outputs(tensors) {}
        IdList inputs, outputs;
    };
    // Tensors of the session, each with the part that has it.
    struct Ports {
        explicit Ports(size_t tensors) : listed(tensors) {}
        IdList listed;
        std::vector<NetParts::Port> list;
        void add(size_t part, int id) {
            if (listed.add(id)) list.push_back({part, id});
        }
    };
    // The tensors of a request.
    struct Wanted {
        explicit Wanted(size_t tensors) : fed(tensors), made(tensors) {}
        IdList fed, made;
    };

    size_t tensors() const { return graph_.source->tensorNames.size(); }
    int tensorId(const std::string& name) const;
    const char* nameOf(int id) const { return graph_.source->tensorNames[static_cast<size_t>(id)].c_str(); }
    size_t& owner(int id) { return owner_[static_cast<size_t>(id)]; }
    bool isConstantTensor(int id) const { return constant_[static_cast<size_t>(id)]; }
    std::vector<bool> chosenNodes(const std::vector<std::string>& names) const;
    std::vector<bool> endOperators(const std::vector<std::string>& names, const char* what) const;
    std::vector<bool> dependents(const std::vector<bool>& sources) const;
    std::vector<bool> requiredNodes(const std::vector<int>& made) const;
    Wanted wantedByOperators(const PartRequest& request);
    Wanted wantedByEnds(const PartRequest& request) const;
    Wanted wantedByTensors(const PartRequest& request) const;
    void feed(const std::vector<int>& ids);
    std::vector<bool> nodesToRun(const std::vector<int>& made);
    void link(int id);
    void offer(int id);

    const NetGraph& graph_;
    std::vector<bool> constant_;  // by tensor
    std::vector<size_t> owner_;   // by tensor: the part that produces it or gets it as an input; kNone: none so far
    std::vector<bool> ran_;       // by node: an earlier part runs it
    std::vector<Part> parts_;     // the last one is being divided
    std::vector<NetParts::Link> links_;
    Ports inputs_, outputs_;
};

Division::Division(const NetGraph& graph)
    : graph_(graph),
      constant_(tensors(), false),
      owner_(tensors(), kNone),
      ran_(graph.nodes.size(), false),
      inputs_(tensors()),
      outputs_(tensors()) {
    for (const int id : graph.source->inputs) owner(id) = 0;
    for (const Node& node : graph.nodes)
        if (isConstantNode(node)) constant_[static_cast<size_t>(node.outputs[0])] = true;
}

int Division::tensorId(const std::string& name) const {
    const int id = graph_.source->findTensor(name);
    if (id < 0) {
        std::string outputs;
        for (const int32_t output : graph_.source->outputs)
            outputs += (outputs.empty() ? "'" : ", '") + graph_.source->tensorNames[static_cast<size_t>(output)] + "'";
        fail(Status::NotFound, "the model has no tensor '%s'; its outputs are %s", name.c_str(), outputs.c_str());
    }
    return id;
}

std::vector<bool> Division::chosenNodes(const std::vector<std::string>& names) const {
    std::vector<bool> chosen(graph_.nodes.size(), false);
    for (const std::string& name : names) {
        bool found = false;
        for (size_t i = 0; i < chosen.size(); ++i) {
            const Node& node = graph_.nodes[i];
            if (node.name != name) continue;
            found = true;
            if (!computes(node)) continue;
            if (ran_[i]) fail(Status::InvalidValue, "operator '%s' is in an earlier path already", name.c_str());
            chosen[i] = true;
        }
        if (!found) fail(Status::NotFound, "the model has no operator '%s'", name.c_str());
    }
    return chosen;
}

// The inputs of the path are the tensors that its operators read from other operators; its outputs are those that none
// of its operators reads.
Division::Wanted Division::wantedByOperators(const PartRequest& request) {
    if (!request.inputs.empty() || !request.outputs.empty())
        fail(Status::InvalidValue,
             "a path of operators must have no inputs or outputs by name: the operators determine them");
    const std::vector<bool> chosen = chosenNodes(request.operators);
    std::vector<bool> made(tensors(), false), read(tensors(), false);
    for (size_t i = 0; i < chosen.size(); ++i) {
        if (!chosen[i]) continue;
        for (const int id : graph_.nodes[i].outputs) {
            if (owner(id) != kNone)
                fail(Status::InvalidValue,
                     "operator '%s' makes tensor '%s', which an earlier path has already: all operators that make a "
                     "tensor belong to one path, and paths must be listed in the order in which they run",
                     graph_.nodes[i].name.c_str(), nameOf(id));
            made[static_cast<size_t>(id)] = true;
        }
        for (const int id : graph_.nodes[i].inputs)
            if (id >= 0) read[static_cast<size_t>(id)] = true;
    }
    Wanted wanted(tensors());
    for (size_t i = 0; i < chosen.size(); ++i) {
        if (!chosen[i]) continue;
        for (const int id : graph_.nodes[i].inputs)
            if (id >= 0 && !made[static_cast<size_t>(id)] && !isConstantTensor(id)) wanted.fed.add(id);
        for (const int id : graph_.nodes[i].outputs)
            if (!read[static_cast<size_t>(id)] || isConstantTensor(id)) wanted.made.add(id);
    }
    for (const std::string& name : request.saveTensors) {
        const int id = tensorId(name);
        if (!made[static_cast<size_t>(id)] && !wanted.fed.has(id))
            fail(Status::InvalidValue, "tensor '%s' is to be saved, but no operator of the path makes or reads it",
                 name.c_str());
        wanted.made.add(id);
    }
    return wanted;
}

// Finds sources or sinks, which must be operators that compute.
std::vector<bool> Division::endOperators(const std::vector<std::string>& names, const char* what) const {
    std::vector<bool> all(graph_.nodes.size(), false);
    for (const std::string& name : names) {
        const std::vector<bool> named = chosenNodes({name});
        if (std::find(named.begin(), named.end(), true) == named.end())
            fail(Status::InvalidValue, "%s operator '%s' computes nothing: it is an input or a constant of the model",
                 what, name.c_str());
        for (size_t i = 0; i < named.size(); ++i) all[i] = all[i] || named[i];
    }
    return all;
}

// Returns, by tensor, whether it depends on one of these operators.
std::vector<bool> Division::dependents(const std::vector<bool>& sources) const {
    std::vector<bool> dependent(tensors(), false);
    for (const uint32_t i : graph_.source->order) {
        const Node& node = graph_.nodes[i];
        if (sources[i] || std::any_of(node.inputs.begin(), node.inputs.end(),
                                      [&](int id) { return id >= 0 && dependent[static_cast<size_t>(id)]; }))
            for (const int id : node.outputs) dependent[static_cast<size_t>(id)] = true;
    }
    return dependent;
}

// Returns, by node, whether one of these tensors depends on it.
std::vector<bool> Division::requiredNodes(const std::vector<int>& made) const {
    std::vector<bool> needed(tensors(), false), required(graph_.nodes.size(), false);
    for (const int id : made) needed[static_cast<size_t>(id)] = true;
    for (size_t k = graph_.nodes.size(); k-- > 0;) {
        const size_t i = graph_.source->order[k];
        const Node& node = graph_.nodes[i];
        required[i] = std::any_of(node.outputs.begin(), node.outputs.end(),
                                  [&](int id) { return needed[static_cast<size_t>(id)]; });
        for (const int id : node.inputs)
            if (required[i] && id >= 0) needed[static_cast<size_t>(id)] = true;
    }
    return required;
}

// The inputs of sources become inputs of the path, unless another source leads to them; the outputs of sinks are
// wanted. So the operators between them run, and also the producers of everything else that these read.
Division::Wanted Division::wantedByEnds(const PartRequest& request) const {
    if (!request.inputs.empty() || !request.outputs.empty() || !request.operators.empty())
        fail(Status::InvalidValue,
             "a path from source to sink operators must have no inputs, outputs or operators by name: the sources and "
             "sinks determine them");
    const std::vector<bool> sources = endOperators(request.sources, "source");
    const std::vector<bool> sinks = endOperators(request.sinks, "sink");
    const std::vector<bool> dependent = dependents(sources);
    const auto isDependent = [&](int id) { return id >= 0 && dependent[static_cast<size_t>(id)]; };
    Wanted wanted(tensors());
    for (size_t i = 0; i < sinks.size(); ++i) {
        if (!sinks[i]) continue;
        const Node& node = graph_.nodes[i];
        if (!request.sources.empty() && !std::any_of(node.outputs.begin(), node.outputs.end(), isDependent))
            fail(Status::InvalidValue, "no source operator leads to sink operator '%s'", node.name.c_str());
        for (const int id : node.outputs) wanted.made.add(id);
    }
    if (request.sinks.empty())
        for (const int id : graph_.source->outputs)
            if (isDependent(id)) wanted.made.add(id);
    const std::vector<bool> required = requiredNodes(wanted.made.ids());
    for (size_t i = 0; i < sources.size(); ++i) {
        if (!sources[i]) continue;
        const Node& node = graph_.nodes[i];
        if (!required[i])
            fail(Status::InvalidValue, "source operator '%s' leads to no %s", node.name.c_str(),
                 request.sinks.empty() ? "output of the model" : "sink operator");
        for (const int id : node.inputs)
            if (id >= 0 && !isDependent(id) && !isConstantTensor(id)) wanted.fed.add(id);
    }
    for (const std::string& name : request.saveTensors) wanted.made.add(tensorId(name));
    return wanted;
}

Division::Wanted Division::wantedByTensors(const PartRequest& request) const {
    Wanted wanted(tensors());
    for (const std::string& name : request.inputs) {
        const int id = tensorId(name);
        if (isConstantTensor(id))
            fail(Status::InvalidValue,
                 "tensor '%s' is a constant, which cannot be an input; mnn_session_constant() changes it",
                 name.c_str());
        wanted.fed.add(id);
    }
    if (request.outputs.empty())
        for (const int id : graph_.source->outputs) wanted.made.add(id);
    for (const std::string& name : request.outputs) wanted.made.add(tensorId(name));
    for (const std::string& name : request.saveTensors) wanted.made.add(tensorId(name));
    return wanted;
}

void Division::feed(const std::vector<int>& ids) {
    for (const int id : ids) {
        if (owner(id) == kNone) {
            owner(id) = parts_.size() - 1;
            parts_.back().inputs.add(id);
        }
        // Callers do not supply tensors that an earlier part produces.
        if (parts_[owner(id)].inputs.has(id)) inputs_.add(owner(id), id);
    }
}

std::vector<bool> Division::nodesToRun(const std::vector<int>& made) {
    std::vector<bool> wanted(tensors(), false), runs(graph_.nodes.size(), false);
    const auto isToMake = [&](int id) { return wanted[static_cast<size_t>(id)] && owner(id) == kNone; };
    for (const int id : made) wanted[static_cast<size_t>(id)] = true;
    for (size_t k = graph_.nodes.size(); k-- > 0;) {
        const size_t i = graph_.source->order[k];
        const Node& node = graph_.nodes[i];
        if (!computes(node) || !std::any_of(node.outputs.begin(), node.outputs.end(), isToMake)) continue;
        runs[i] = true;
        for (const int id : node.inputs)
            if (id >= 0) wanted[static_cast<size_t>(id)] = true;
    }
    return runs;
}

// Adds a link for a tensor that the current part reads and an earlier part has.
void Division::link(int id) {
    const size_t to = parts_.size() - 1, from = owner(id);
    if (isConstantTensor(id) || from == kNone || from == to || !parts_[to].inputs.add(id)) return;
    if (!parts_[from].inputs.has(id)) parts_[from].outputs.add(id);
    links_.push_back({from, to, id});
}

// Offers a tensor to the caller, from the part that has it.
void Division::offer(int id) {
    if (outputs_.listed.has(id)) return;
    const size_t has = owner(id) == kNone ? parts_.size() - 1 : owner(id);
    parts_[has].outputs.add(id);
    outputs_.add(has, id);
}

void Division::add(const PartRequest& request, bool isWhole) {
    parts_.emplace_back(tensors());
    if (parts_.size() == 1)
        for (const int id : graph_.source->inputs) parts_[0].inputs.add(id);
    const Wanted wanted = request.byEnds()            ? wantedByEnds(request)
                          : request.operators.empty() ? wantedByTensors(request)
                                                      : wantedByOperators(request);
    feed(wanted.fed.ids());
    const std::vector<bool> runs = nodesToRun(wanted.made.ids());
    if (!isWhole && std::find(runs.begin(), runs.end(), true) == runs.end())
        fail(Status::BadFormat,
             "the path computes nothing: the tensors that it should make are inputs or constants, or earlier paths "
             "make them");
    for (size_t i = 0; i < runs.size(); ++i) {
        if (!runs[i]) continue;
        ran_[i] = true;
        for (const int id : graph_.nodes[i].inputs)
            if (id >= 0) link(id);
        for (const int id : graph_.nodes[i].outputs)
            if (owner(id) == kNone) owner(id) = parts_.size() - 1;
    }
    for (const int id : wanted.made.ids()) offer(id);
    if (outputs_.list.empty()) fail(Status::BadFormat, "the model has no output to compute");
}

NetParts Division::finish() {
    for (const int id : graph_.source->inputs) inputs_.add(0, id);
    NetParts result;
    for (const Part& part : parts_) result.parts.push_back({part.inputs.ids(), part.outputs.ids()});
    result.inputs = std::move(inputs_.list);
    result.outputs = std::move(outputs_.list);
    result.links = std::move(links_);
    return result;
}

}  // namespace

NetParts netParts(const NetGraph& graph, const std::vector<PartRequest>& requests) {
    Division division(graph);
    const bool isWhole =
        requests.size() == 1 && requests[0].inputs.empty() && requests[0].operators.empty() && !requests[0].byEnds();
    for (size_t i = 0; i < requests.size(); ++i)
        inPath(i, requests.size(), [&] { division.add(requests[i], isWhole); });
    NetParts parts = division.finish();
    parts.parts[0].updates = isWhole && requests[0].outputs.empty();
    return parts;
}

}  // namespace mnnc
