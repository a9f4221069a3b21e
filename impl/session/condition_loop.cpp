// The loop of TensorFlow: a condition graph runs before every round, and values are replaced by name after it.
#include <algorithm>

#include "session/while_node.h"

namespace mnnc {

int ConditionLoop::slotOf(const std::string& formal) {
    const auto found = slotPlaces_.find(formal);
    return found == slotPlaces_.end() ? -1 : found->second;
}

ConditionLoop::ConditionLoop(SessionContext& context, GraphTensors& tensors, const Node& node)
    : ControlNode(tensors, node),
      context_(context),
      name_(node.name),
      cond_(context, node.paramsAs<WhileParams>().condGraph, name_.c_str()),
      body_(context, node.paramsAs<WhileParams>().bodyGraph, name_.c_str()) {
    const auto& params = node.paramsAs<WhileParams>();
    auto addSlots = [&](Subgraph& graph, std::vector<int>& slots) {
        for (size_t i = 0; i < graph.inputs(); ++i) {
            const std::string& formal = graph.pipeline().input(i).name;
            int slot = slotOf(formal);
            if (slot < 0) {
                slot = static_cast<int>(slotNames_.size());
                slotNames_.push_back(formal);
                slotPlaces_.emplace(formal, slot);
                slots_.emplace_back(context);
            }
            slots.push_back(slot);
        }
    };
    addSlots(cond_, condSlots_);
    addSlots(body_, bodySlots_);
    initial_.assign(slotNames_.size(), -1);
    for (size_t i = 0; i < params.inputAliases.size() && i < inputCount(); ++i)
        for (const std::string& alias : params.inputAliases[i])
            if (const int slot = slotOf(alias); slot >= 0) initial_[static_cast<size_t>(slot)] = static_cast<int>(i);
    for (size_t slot = 0; slot < initial_.size(); ++slot)
        if (initial_[slot] < 0)
            fail(Status::BadFormat, "op '%s' (While) feeds nothing to '%s'", name_.c_str(), slotNames_[slot].c_str());
    for (const std::vector<std::string>& update : params.updates) {
        if (update.size() != 2)
            fail(Status::BadFormat, "op '%s' (While): an update does not have two names", name_.c_str());
        const int fromBody = body_.findOutput(update[0]), fromCond = cond_.findOutput(update[0]);
        const int slot = slotOf(update[1]);
        if ((fromBody < 0 && fromCond < 0) || slot < 0)
            fail(Status::BadFormat, "op '%s' (While): the update '%s' -> '%s' does not resolve", name_.c_str(),
                 update[0].c_str(), update[1].c_str());
        updates_.push_back({fromBody >= 0, static_cast<size_t>(fromBody >= 0 ? fromBody : fromCond), slot});
        staged_.emplace_back(context);
    }
    for (size_t i = 0; i < outputCount(); ++i) {
        memory_.emplace_back(context);
        const std::string& alias = i < params.outputAliases.size() ? params.outputAliases[i] : std::string();
        int slot = slotOf(alias);
        const int output = body_.findOutput(alias);
        // A body output that feeds a slot is that slot after the update (and before the first round).
        for (size_t u = 0; slot < 0 && u < updates_.size(); ++u)
            if (updates_[u].fromBody && static_cast<int>(updates_[u].output) == output) slot = updates_[u].slot;
        if (slot < 0 && output < 0)
            fail(Status::BadFormat, "op '%s' (While): output %zu ('%s') does not resolve", name_.c_str(), i,
                 alias.c_str());
        resultSlot_.push_back(slot);
        resultOutput_.push_back(output);
    }
}

void ConditionLoop::runGraph(Subgraph& graph, const std::vector<int>& slots) {
    for (size_t i = 0; i < slots.size(); ++i) graph.describe(i, slots_[static_cast<size_t>(slots[i])].tensor);
    graph.pipeline().prepare();
    for (size_t i = 0; i < slots.size(); ++i) graph.fill(i, slots_[static_cast<size_t>(slots[i])].located());
    graph.run();
}

void ConditionLoop::execute() {
    for (size_t slot = 0; slot < slots_.size(); ++slot) slots_[slot].assign(input(static_cast<size_t>(initial_[slot])));
    for (int64_t round = 0;; ++round) {
        runGraph(cond_, condSlots_);
        if (!conditionHolds(cond_.output(0), name_.c_str())) {
            for (size_t i = 0; i < outputCount(); ++i) {
                if (resultSlot_[i] >= 0)
                    give(i, memory_[i], slots_[static_cast<size_t>(resultSlot_[i])].located());
                else if (round == 0)
                    fail(Status::InputDataError, "op '%s' (While): output %zu has no value after zero rounds",
                         name_.c_str(), i);
            }
            return;
        }
        rounds_.begin(context_, name_);
        runGraph(body_, bodySlots_);
        for (size_t i = 0; i < outputCount(); ++i)
            if (resultSlot_[i] < 0) give(i, memory_[i], body_.output(static_cast<size_t>(resultOutput_[i])));
        for (size_t u = 0; u < updates_.size(); ++u) {
            Subgraph& from = updates_[u].fromBody ? body_ : cond_;
            staged_[u].assign(from.output(updates_[u].output));
        }
        for (size_t u = 0; u < updates_.size(); ++u)
            slots_[static_cast<size_t>(updates_[u].slot)].assign(staged_[u].located());
    }
}

void ConditionLoop::appendBodies(std::vector<OpRecord>& records) const {
    const size_t begin = records.size();
    cond_.pipeline().appendRecords(records);
    body_.pipeline().appendRecords(records);
    repeatWork(records, begin, -1);  // the condition ends the loop in each run, so that the number of rounds is unknown
}

void ConditionLoop::trim() {
    cond_.pipeline().trim();
    body_.pipeline().trim();
}

ControlNode::Bodies ConditionLoop::bodies() const {
    return {&cond_.pipeline(), &body_.pipeline()};
}

}  // namespace mnnc
