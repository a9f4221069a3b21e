// Finds the operators that each command of a plan computes. A command lists the tensors that it reads and writes: it
// computes the operators of the model between them. Commands that share a tensor without a producer in the model are
// parts of one operator, and so are commands whose outputs have the same producer.
#include "op_groups.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace tool {
namespace {

struct Command {
    std::vector<int64_t> inputs, outputs;
};

class Grouping {
  public:
    Grouping(NetGraph& graph, const nlohmann::json& calls) : graph_(graph), parent_(calls.size()) {
        for (const nlohmann::json& call : calls)
            commands_.push_back(
                {call.at("inputs").get<std::vector<int64_t>>(), call.at("outputs").get<std::vector<int64_t>>()});
        std::iota(parent_.begin(), parent_.end(), size_t{0});
    }

    // Returns the group of each command.
    std::vector<size_t> run() {
        uniteParts();
        for (size_t i = 0; i < commands_.size(); ++i)
            for (const int64_t id : commands_[i].inputs) reads_.insert({find(i), id});
        std::vector<size_t> groupOf(commands_.size());
        std::map<size_t, size_t> numbers;
        for (size_t i = 0; i < commands_.size(); ++i) {
            const auto [found, added] = numbers.try_emplace(find(i), graph_.groups.size());
            if (added) graph_.groups.emplace_back();
            groupOf[i] = found->second;
        }
        for (size_t i = 0; i < commands_.size(); ++i)
            for (const int64_t id : commands_[i].outputs)
                if (id >= 0) take(graph_.tensors[static_cast<size_t>(id)].producer, find(i), groupOf[i]);
        for (size_t op = 0; op < graph_.ops.size(); ++op)
            if (graph_.ops[op].group >= 0) graph_.groups[static_cast<size_t>(graph_.ops[op].group)].ops.push_back(op);
        return groupOf;
    }

  private:
    size_t find(size_t command) {
        while (parent_[command] != command) command = parent_[command] = parent_[parent_[command]];
        return command;
    }

    void uniteParts() {
        std::map<int64_t, size_t> byTensor;
        std::map<int, size_t> byProducer;
        const auto unite = [&](auto& seen, auto key, size_t command) {
            const auto [found, added] = seen.try_emplace(key, command);
            if (!added) parent_[find(command)] = find(found->second);
        };
        for (size_t i = 0; i < commands_.size(); ++i) {
            for (const auto* list : {&commands_[i].inputs, &commands_[i].outputs})
                for (const int64_t id : *list)
                    if (id < 0) unite(byTensor, id, i);
            for (const int64_t id : commands_[i].outputs) {
                if (id < 0) continue;
                made_.insert(id);
                const int producer = graph_.tensors[static_cast<size_t>(id)].producer;
                if (producer >= 0) unite(byProducer, producer, i);
            }
        }
    }

    // Adds the producer of an output and its predecessors, up to the tensors that the commands of the group read.
    void take(int last, size_t root, size_t group) {
        std::vector<int> open{last};
        while (!open.empty()) {
            const int at = open.back();
            open.pop_back();
            if (at < 0) continue;
            GraphOp& op = graph_.ops[static_cast<size_t>(at)];
            if (op.group >= 0 || !op.isDrawn() || !op.bodies.empty() || op.type == "Input") continue;
            op.group = static_cast<int>(group);
            for (const int64_t id : op.inputs) {
                if (id < 0 || made_.count(id) > 0 || reads_.count({root, id}) > 0) continue;
                const GraphTensor& tensor = graph_.tensors[static_cast<size_t>(id)];
                if (!tensor.constant) open.push_back(tensor.producer);
            }
        }
    }

    NetGraph& graph_;
    std::vector<Command> commands_;
    std::vector<size_t> parent_;
    std::set<int64_t> made_;
    std::set<std::pair<size_t, int64_t>> reads_;  // (root of a group in parent_, tensor that the group reads)
};

void addWord(std::string& list, const std::string& word) {
    if (word.empty() || (", " + list + ", ").find(", " + word + ", ") != std::string::npos) return;
    list += (list.empty() ? "" : ", ") + word;
}

}  // namespace

void groupOperators(std::vector<NetGraph>& graphs, size_t graph, const nlohmann::json& calls, PlannedOps& planned) {
    const std::vector<size_t> groupOf = Grouping(graphs[graph], calls).run();
    for (size_t i = 0; i < calls.size(); ++i) {
        const nlohmann::json& call = calls[i];
        GraphGroup& group = graphs[graph].groups[groupOf[i]];
        const std::string type = call.at("type");
        if (std::find(group.commands.begin(), group.commands.end(), type) == group.commands.end())
            group.commands.push_back(type);
        addWord(group.backend, call.at("backend").get<std::string>());
        addWord(group.algorithm, call.at("algorithm").get<std::string>());
        addWord(group.reason, call.at("reason").get<std::string>());
        group.hostShape = call.at("host_shape").get<bool>();
        planned[{type, call.at("name").get<std::string>()}].emplace_back(graph, groupOf[i]);
    }
}

}  // namespace tool
